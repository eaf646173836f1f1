// Versions of kubeadm in the host's own package index; nothing is contacted.

import { compareVersions, parseVersion } from '../../../core/version.ts'

/** ` kubeadm | 1.36.3-1.1 | https://pkgs.k8s.io/core:/stable:/v1.36/deb  Packages` */
export function offeredByApt(madison: string): readonly string[] {
  return versions([...madison.matchAll(/^\s*kubeadm \| (\S+) \|/gm)].map((match) => match[1] ?? ''))
}

/** `kubeadm.x86_64   1.36.3-150500.1.1   kubernetes` */
export function offeredByDnf(list: string): readonly string[] {
  return versions([...list.matchAll(/^kubeadm\.\S+\s+(\S+)\s/gm)].map((match) => match[1] ?? ''))
}

/** Without epoch and revision; `~rc.1` is how packages write `-rc.1`. Oldest first. */
function versions(packageVersions: readonly string[]): readonly string[] {
  const found = packageVersions.flatMap((text) => {
    const upstream = text
      .replace(/^[0-9]+:/, '')
      .replace(/-[^-]*$/, '')
      .replace('~', '-')
    return parseVersion(upstream)?.text ?? []
  })
  return [...new Set(found)].sort(compareVersions)
}
