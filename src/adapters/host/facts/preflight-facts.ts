import { mostFreeGiB } from '../../../api/preflight-facts.ts'
import {
  flagsThatGo,
  isMasked,
  kubeletDropIns,
  kubeletFilesOfPeople,
  kubeletServer,
} from '../../../core/kubernetes/kubelet-files.ts'
import type { HostFacts } from '../../../ports/host.ts'
import type { HostFiles } from '../../../ports/host-files.ts'

/** Images, packages and the journal lie there. */
const filledFolder = '/var'

export async function freeGiB(files: HostFiles): Promise<number> {
  return Math.min(mostFreeGiB, Math.floor((await files.freeBytes(filledFolder)) / 2 ** 30))
}

/** What `stat -fc %T /sys/fs/cgroup` prints. */
export function cgroupVersion(fileSystem: string): HostFacts['cgroup'] {
  switch (fileSystem.trim()) {
    case 'cgroup2fs':
      return 'v2'
    case 'tmpfs':
      return 'v1'
    default:
      return undefined
  }
}

/** Empty where there are none: what could not be read throws, and is no fact at all. */
export async function kubeletFlags(files: HostFiles): Promise<string[]> {
  const units = (await files.names(kubeletDropIns)).filter((name) => name.endsWith('.conf'))
  const flags = new Set<string>()
  for (const path of [...kubeletFilesOfPeople, ...units.map((name) => `${kubeletDropIns}/${name}`)]) {
    if (isMasked(await files.look(path))) continue
    for (const flag of flagsThatGo((await files.read(path)) ?? '')) flags.add(flag)
  }
  return [...flags].slice(0, 32)
}

export async function serverOfKubelet(files: HostFiles): Promise<HostFacts['kubeletServer']> {
  const manifest = await files.read('/etc/kubernetes/manifests/kube-apiserver.yaml')
  if (manifest === undefined) return undefined
  return kubeletServer((await files.read('/etc/kubernetes/kubelet.conf')) ?? '', manifest)
}
