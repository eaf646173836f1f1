// Whether an operating system asks for a reboot, and why. Who can tell differs: a file that packages leave, a tool of dnf and yum, or
// the kernels that are installed.

import { compareKernels } from '../../../core/kernel/newer-kernel.ts'
import type { CommandResult } from '../../../ports/host.ts'
import type { HostFiles } from '../../../ports/host-files.ts'

export type RebootNeed =
  | { readonly kind: 'Required'; readonly reason: string }
  | { readonly kind: 'NotRequired' }
  | { readonly kind: 'Unknown'; readonly because: string }

/** Their absence of a request means that none is needed: the tools that leave the file for a new kernel. */
const requesters = ['/usr/share/update-notifier/notify-reboot-required', '/etc/kernel/postinst.d/unattended-upgrades']
const rebootFile = '/var/run/reboot-required'
const modules = '/lib/modules'
const longest = 512

export interface RebootSources {
  readonly files: HostFiles
  readonly manager: 'apt' | 'dnf' | 'yum' | undefined
  /** As `uname -r` prints it. */
  readonly kernel: string
  readonly now: Date
  run(argv: readonly string[]): Promise<CommandResult>
}

export async function rebootNeed(sources: RebootSources): Promise<RebootNeed> {
  const { files, manager } = sources
  if (await isThere(files, rebootFile)) {
    return { kind: 'Required', reason: askedByPackages(await files.read(`${rebootFile}.pkgs`)) }
  }
  // Its own tools know whether another image waits to be booted; the kernels of that one are not to be seen.
  if (await isThere(files, '/run/ostree-booted')) return { kind: 'NotRequired' }
  if (manager === 'dnf' || manager === 'yum') {
    for (const argv of [
      ['needs-restarting', '-r'],
      [manager, '-q', '--disablerepo=*', 'needs-restarting', '-r'],
    ]) {
      const told = askedByNeedsRestarting(await sources.run(argv))
      if (told) return told
    }
  }
  const kernels = await kernelNeed(sources)
  if (kernels.kind !== 'Unknown') return kernels
  for (const path of manager === 'apt' ? requesters : []) if (await isThere(files, path)) return { kind: 'NotRequired' }
  const lacking = { apt: `nothing writes ${rebootFile} here`, dnf: noTool, yum: noTool, none: 'no tool of it is known' }
  return { kind: 'Unknown', because: `${lacking[manager ?? 'none']}, and ${kernels.because}`.slice(0, longest) }
}

const noTool = 'needs-restarting is not installed'

/** Debian and its kin: a file that is there, and the packages that wanted it beside it. */
export function askedByPackages(packages: string | undefined): string {
  const names = [...new Set((packages ?? '').split('\n').map((line) => line.trim()))].filter((name) => name !== '')
  return (names.length === 0 ? 'the operating system asks for it' : `wanted by ${names.join(', ')}`).slice(0, longest)
}

/** `needs-restarting -r` of dnf and yum: exit code 1 means yes, but also that it could not tell. Undefined where it did not answer. */
export function askedByNeedsRestarting({
  exitCode,
  stdout,
}: Pick<CommandResult, 'exitCode' | 'stdout'>): RebootNeed | undefined {
  if (exitCode === 0) return { kind: 'NotRequired' }
  if (exitCode !== 1 || !/reboot is required/i.test(stdout)) return undefined
  const names = [...stdout.matchAll(/^\s+\*\s+(\S+)/gm)].map((match) => match[1] ?? '')
  return { kind: 'Required', reason: askedByPackages(names.join('\n')) }
}

async function kernelNeed({ files, kernel, now }: RebootSources): Promise<RebootNeed> {
  const found = compareKernels(kernel, await installedKernels(files))
  if (found.kind === 'Unknown') return found
  // One that was there at the last boot was not taken then: the boot loader is told to boot another.
  if (found.kind === 'Newest' || !(await cameSinceBoot(files, found.release, now))) return { kind: 'NotRequired' }
  return { kind: 'Required', reason: `the kernel ${found.release} is installed and ${kernel} runs`.slice(0, longest) }
}

/** Modules are left behind when a kernel is removed; only one with an image can be booted. */
async function installedKernels(files: HostFiles): Promise<readonly string[]> {
  const found: string[] = []
  for (const release of await files.names(modules)) {
    const images = ['vmlinuz', 'vmlinux', 'Image', 'image'].flatMap((name) => [
      `/boot/${name}-${release}`,
      `${modules}/${release}/${name}`,
    ])
    for (const image of images) {
      if (!(await isThere(files, image))) continue
      found.push(release)
      break
    }
  }
  return found
}

/** Packages keep the times of their build; what depmod writes has that of the installation. */
async function cameSinceBoot(files: HostFiles, release: string, now: Date): Promise<boolean> {
  const written = await files.look(`${modules}/${release}/modules.dep`)
  const uptimeSeconds = Number((await files.read('/proc/uptime'))?.split(' ')[0])
  if (written.kind !== 'file' || !(uptimeSeconds > 0)) return true
  return written.modifiedMs > now.getTime() - uptimeSeconds * 1000
}

async function isThere(files: HostFiles, path: string): Promise<boolean> {
  return (await files.look(path)).kind !== 'none'
}
