import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import type { CommandResult } from '../../../ports/host.ts'
import type { FileLook } from '../../../ports/host-files.ts'
import { DiskFiles } from '../../../sim/disk-files.ts'
import { askedByNeedsRestarting, askedByPackages, type RebootSources, rebootNeed } from './reboot-required.ts'

/** Recorded in https://github.com/AlmaLinux/almalinux-deploy/issues/177. */
const yes =
  'Core libraries or services have been updated since boot-up:\n  * glibc\n  * linux-firmware\n\nReboot is required to fully utilize these updates.\nMore information: https://access.redhat.com/solutions/27943\n'
const no = 'No core libraries or services have been updated since boot-up.\nReboot should not be necessary.\n'
/** As dnf 4 says of a plugin that is not there. */
const noSuchCommand = 'No such command: needs-restarting. Please use /usr/bin/dnf --help\n'

it('packages ask for it', () => {
  // Recorded in https://github.com/romkatv/powerlevel10k/issues/1118.
  expect(askedByPackages('libssl1.0.0\nlinux-base\nlinux-base\nlinux-base\nlibc6\nlinux-base\n')).toBe(
    'wanted by libssl1.0.0, linux-base, libc6',
  )
  expect(askedByPackages(undefined)).toBe('the operating system asks for it')
  expect(askedByPackages('x'.repeat(2000))).toHaveLength(512)
})

it.each([
  { exitCode: 1, stdout: yes, told: { kind: 'Required', reason: 'wanted by glibc, linux-firmware' } },
  { exitCode: 0, stdout: no, told: { kind: 'NotRequired' } },
  { exitCode: 1, stdout: noSuchCommand, told: undefined },
  { exitCode: 127, stdout: '', told: undefined },
])('needs-restarting ends with $exitCode: $told', ({ exitCode, stdout, told }) => {
  expect(askedByNeedsRestarting({ exitCode, stdout })).toEqual(told)
})

class FilesWithTimes extends DiskFiles {
  readonly times = new Map<string, number>()

  override async look(path: string): Promise<FileLook> {
    const look = await super.look(path)
    return look.kind === 'file' ? { ...look, modifiedMs: this.times.get(path) ?? 0 } : look
  }
}

const now = new Date('2026-11-16T12:00:00Z')
const hourMs = 3_600_000
const [older, newer] = ['6.1.0-23-amd64', '6.1.0-25-amd64']
const kernelFiles = (release: string) => [`/lib/modules/${release}/modules.dep`, `/boot/vmlinuz-${release}`]
const bothKernels = [...kernelFiles(older), ...kernelFiles(newer)]

interface Machine {
  readonly manager: RebootSources['manager']
  readonly paths: readonly string[]
  readonly says?: Readonly<Record<string, Partial<CommandResult>>>
  /** How long ago the newer kernel came; the machine is up for two hours. */
  readonly hoursAgo?: number
}

async function needOf({ manager, paths, says = {}, hoursAgo = 1 }: Machine) {
  const files = new FilesWithTimes(new MemoryDisk())
  const put = (path: string, text: string) => files.write(path, text, { mode: 0o644, owner: 'root', group: 'root' })
  for (const path of paths) await put(path, '')
  await put('/proc/uptime', '7200.51 14000.10\n')
  files.times.set(`/lib/modules/${newer}/modules.dep`, now.getTime() - hoursAgo * hourMs)
  const run = (argv: readonly string[]): Promise<CommandResult> =>
    Promise.resolve({ exitCode: 127, stdout: '', stderr: '', ...says[argv[0] ?? ''] })
  return rebootNeed({ files, manager, kernel: older, now, run })
}

const required = { kind: 'Required', reason: `the kernel ${newer} is installed and ${older} runs` }
const notRequired = { kind: 'NotRequired' }

describe('a reboot', () => {
  const cases: readonly (Machine & { readonly name: string; readonly need: object })[] = [
    {
      name: 'asked for by packages',
      manager: 'apt',
      paths: ['/var/run/reboot-required', ...kernelFiles(older)],
      need: { kind: 'Required', reason: 'the operating system asks for it' },
    },
    { name: 'for a new kernel that nobody tells of', manager: 'apt', paths: bothKernels, need: required },
    { name: 'not for the newest', manager: 'apt', paths: kernelFiles(older), need: notRequired },
    {
      name: 'not for modules that were left behind',
      manager: 'apt',
      paths: [...kernelFiles(older), `/lib/modules/${newer}/modules.dep`],
      need: notRequired,
    },
    {
      name: 'not for a kernel the last boot passed over',
      manager: 'apt',
      paths: bothKernels,
      hoursAgo: 3,
      need: notRequired,
    },
    {
      name: 'for a kernel whose image lies beside its modules',
      manager: 'dnf',
      paths: [...kernelFiles(older), `/lib/modules/${newer}/vmlinuz`],
      need: required,
    },
    {
      name: 'as needs-restarting says',
      manager: 'dnf',
      paths: bothKernels,
      says: { 'needs-restarting': { exitCode: 0, stdout: no } },
      need: notRequired,
    },
    {
      name: 'as the plugin of dnf says where needs-restarting is no program',
      manager: 'dnf',
      paths: kernelFiles(older),
      says: { dnf: { exitCode: 1, stdout: yes } },
      need: { kind: 'Required', reason: 'wanted by glibc, linux-firmware' },
    },
    {
      name: 'by the kernels where dnf has no such plugin',
      manager: 'dnf',
      paths: bothKernels,
      says: { dnf: { exitCode: 1, stdout: noSuchCommand } },
      need: required,
    },
    {
      name: 'not known on a dnf host without any of it',
      manager: 'dnf',
      paths: [],
      need: {
        kind: 'Unknown',
        because: `needs-restarting is not installed, and the running kernel ${older} is not among those installed`,
      },
    },
    {
      name: 'not known on Debian where nothing writes the file',
      manager: 'apt',
      paths: [],
      need: {
        kind: 'Unknown',
        because: `nothing writes /var/run/reboot-required here, and the running kernel ${older} is not among those installed`,
      },
    },
    {
      name: 'not asked for where something would write the file',
      manager: 'apt',
      paths: ['/usr/share/update-notifier/notify-reboot-required'],
      need: notRequired,
    },
    { name: 'left to the image on such a host', manager: undefined, paths: ['/run/ostree-booted'], need: notRequired },
  ]
  it.each(cases)('$name', async ({ need, ...machine }) => {
    expect(await needOf(machine)).toEqual(need)
  })
})
