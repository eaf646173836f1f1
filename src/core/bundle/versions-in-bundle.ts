import type { BundleManifest } from '../../api/bundle.ts'

/** `kubeadm_1.36.3-1.1_amd64.deb`, `kubeadm-1.36.3-150500.1.1.x86_64.rpm`; a pre-release is written with ~. */
const packageFile =
  /^packages\/(?:deb|rpm)\/(kubeadm|kubelet)[_-](?:[0-9]+(?::|%3a))?([0-9]+\.[0-9]+\.[0-9]+)(~[0-9A-Za-z.]+)?[-_]/i

/** The versions of Kubernetes of which a bundle has what a node needs. */
export function versionsInBundle({ files }: Pick<BundleManifest, 'files'>): readonly string[] {
  const found = { kubeadm: new Set<string>(), kubelet: new Set<string>() }
  for (const { path } of files) {
    const [, name, numbers, pre = ''] = packageFile.exec(path) ?? []
    if (name === 'kubeadm' || name === 'kubelet') found[name].add(`v${numbers}${pre.replace('~', '-')}`)
  }
  return [...found.kubeadm].filter((version) => found.kubelet.has(version))
}
