import { removedFlagsIn } from './kubelet-arguments.ts'

/** A person's files: nobody else takes anything out of them. */
export const kubeletFilesOfPeople = ['/etc/default/kubelet', '/etc/sysconfig/kubelet'] as const
export const kubeletDropIns = '/etc/systemd/system/kubelet.service.d'

/** Where systemd reads nothing: a link to /dev/null takes out what a package brings, and a folder is no drop-in. */
export function isMasked({ kind, target }: { readonly kind: string; readonly target?: string }): boolean {
  return kind === 'folder' || (kind === 'link' && target === '/dev/null')
}

/** The flags in such a file, without dashes, that some version of the kubelet no longer knows. */
export function flagsThatGo(text: string): readonly string[] {
  return removedFlagsIn(text, { major: 2, minor: 0 }).map((flag) => flag.slice(2))
}

/**
 * The API server a kubelet's kubeconfig names, and whether it is the one on the same machine, by what kubeadm notes in that
 * one's manifest.
 */
export function kubeletServer(
  kubeconfig: string,
  manifest: string,
): { readonly url: string; readonly own: boolean } | undefined {
  const url = /^\s*server:\s*["']?(https?:\/\/[^\s"']+)/m.exec(kubeconfig)?.[1]
  if (url === undefined) return undefined
  const own = /kube-apiserver\.advertise-address\.endpoint:\s*["']?([^\s"']+)/.exec(manifest)?.[1]
  const address = url.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
  const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/.test(address)
  return { url, own: local || address === own }
}
