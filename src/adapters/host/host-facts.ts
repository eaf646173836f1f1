import { arch, release } from 'node:os'
import type { Disk } from '../../ports/disk.ts'
import type { HostFacts } from '../../ports/host.ts'

/** The name Kubernetes gives to what Node.js calls x64. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

export async function readHostFacts(disk: Disk, root: string): Promise<HostFacts> {
  const osRelease = (await disk.read(`${root}/etc/os-release`)) ?? (await disk.read(`${root}/usr/lib/os-release`))
  const architecture = arch()
  return {
    os: prettyName(osRelease ?? '').slice(0, 256),
    kernel: release(),
    architecture: architectures[architecture] ?? architecture,
    versionsOnOffer: [],
  }
}

export function prettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim() ?? 'Linux'
  const quoted = /^(["'])(.*)\1$/.exec(value)
  return quoted?.[2]?.replace(/\\(["$`\\])/g, '$1') ?? value
}
