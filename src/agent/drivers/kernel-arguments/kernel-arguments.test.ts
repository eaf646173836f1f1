import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { FakeHost } from '../../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import type { CommandResult } from '../../../ports/host.ts'
import { changeKernelArguments, readKernelArguments } from './kernel-arguments.ts'

const signal = new AbortController().signal
const attributes = { mode: 0o640, owner: 'root', group: 'root' }
const done = (stdout = ''): CommandResult => ({ exitCode: 0, stdout, stderr: '' })
const absent: CommandResult = { exitCode: 127, stdout: '', stderr: '' }
const values = (argv: readonly string[], option: string) =>
  argv.filter((word) => word.startsWith(`--${option}=`)).map((word) => word.slice(option.length + 3))

/** The host and what was asked of it; `words` is its next boot's command line. */
function hostWith(tool: 'rpm-ostree' | 'grubby' | 'none', words: string[]) {
  const host = new FakeHost(new MemoryDisk(), new ManualClock())
  const changes: string[] = []
  host.answer = ({ argv }) => {
    const [program = ''] = argv
    if (program !== tool) return absent
    const add = [...values(argv, 'append-if-missing'), ...values(argv, 'args')]
    const remove = [...values(argv, 'delete-if-present'), ...values(argv, 'remove-args')]
    if (add.length + remove.length > 0) changes.push(argv.join(' '))
    words.splice(0, words.length, ...words.filter((word) => !remove.includes(word)), ...add)
    return done(tool === 'grubby' ? `index=0\nargs="${words.join(' ')}"\n` : `${words.join(' ')}\n`)
  }
  return { host, changes }
}

const change = { add: ['mitigations=off'], remove: ['quiet'] }

describe.each(['rpm-ostree', 'grubby'] as const)('kernel arguments by %s', (tool) => {
  it('are read, changed once, and then left alone', async () => {
    const { host, changes } = hostWith(tool, ['ro', 'quiet'])
    expect(await readKernelArguments(host, signal)).toEqual(['ro', 'quiet'])
    await changeKernelArguments(host, change, signal)
    expect(await readKernelArguments(host, signal)).toEqual(['ro', 'mitigations=off'])
    const before = changes.length
    await changeKernelArguments(host, change, signal)
    expect(changes).toHaveLength(before)
  })
})

describe('kernel arguments by update-grub', () => {
  // grub-mkconfig reads the file with a shell: `. /etc/default/grub`.
  it.each([
    ['GRUB_CMDLINE_LINUX="ro" # by hand', 'ro mitigations=off'],
    [`GRUB_CMDLINE_LINUX='ro dyndbg="file a.c +p"'`, 'ro dyndbg="file a.c +p" mitigations=off'],
    [`GRUB_CMDLINE_LINUX="ro dyndbg=\\"file a.c +p\\""`, 'ro dyndbg="file a.c +p" mitigations=off'],
    ['GRUB_CMDLINE_LINUX="ro \\\n  rd.luks=1"', 'ro rd.luks=1 mitigations=off'],
    ['serial=ttyS0\nGRUB_CMDLINE_LINUX="ro console="$serial', 'ro console=ttyS0 mitigations=off'],
  ])('are what a shell reads from %j', async (settings, expected) => {
    const host = new FakeHost(new MemoryDisk(), new ManualClock())
    await host.files.write('/etc/default/grub', `${settings}\n`, attributes)
    await host.files.write('/boot/grub/grub.cfg', 'linux /boot/vmlinuz ro\n', attributes)
    host.answer = ({ argv }) => (argv[0] === 'update-grub' ? done() : absent)
    await expect(changeKernelArguments(host, { add: change.add, remove: [] }, signal)).rejects.toThrow()
    const written = (await host.files.read('/etc/default/grub')) ?? ''
    const { stdout, stderr } = spawnSync('/bin/sh', ['-c', `${written}printf %s "$GRUB_CMDLINE_LINUX"`])
    expect({ read: stdout.toString(), said: stderr.toString() }).toEqual({ read: expected, said: '' })
  })

  async function debian() {
    const host = new FakeHost(new MemoryDisk(), new ManualClock())
    await host.files.write(
      '/etc/default/grub',
      'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX=""\n',
      attributes,
    )
    await host.files.write('/boot/grub/grub.cfg', 'linux /boot/vmlinuz root=UUID=1 ro quiet\n', attributes)
    return host
  }

  it('are not there before grub.cfg says so', async () => {
    const host = await debian()
    host.answer = ({ argv }) => (argv[0] === 'update-grub' ? done() : absent)
    await expect(changeKernelArguments(host, change, signal)).rejects.toMatchObject({ code: 'StepFailed' })
    expect(await host.files.read('/etc/default/grub')).toBe(
      'GRUB_CMDLINE_LINUX_DEFAULT=""\nGRUB_CMDLINE_LINUX="mitigations=off"\n',
    )
    expect(await host.files.look('/etc/default/grub')).toMatchObject({ mode: 0o640 })
    // Cut off between the settings and update-grub, it is run again.
    await host.files.write('/boot/grub/grub.cfg', 'linux /boot/vmlinuz root=UUID=1 ro mitigations=off\n', attributes)
    await changeKernelArguments(host, change, signal)
  })
})

describe('kernel arguments', () => {
  it.each(['a b', 'a"', '$(a)'])('that need quotes are refused: %s', async (word) => {
    const { host, changes } = hostWith('rpm-ostree', [])
    await expect(changeKernelArguments(host, { add: [word], remove: [] }, signal)).rejects.toMatchObject({
      code: 'KernelArgumentsUnsupported',
    })
    expect(changes).toEqual([])
  })

  it('cannot be set where no tool is', async () => {
    const { host } = hostWith('none', [])
    expect(await readKernelArguments(host, signal)).toBeUndefined()
    await expect(changeKernelArguments(host, change, signal)).rejects.toMatchObject({
      code: 'KernelArgumentsUnsupported',
    })
  })

  it('are not unsupported where rpm-ostree does not answer just now', async () => {
    const { host } = hostWith('none', [])
    await host.files.write('/run/ostree-booted', '', attributes)
    const busy = { exitCode: 1, stdout: '', stderr: 'error: Timeout was reached' }
    host.answer = ({ argv }) => (argv[0] === 'rpm-ostree' ? busy : absent)
    await expect(readKernelArguments(host, signal)).rejects.toMatchObject({ code: 'StagingFailed' })
  })

  it('are the image’s on a bootc host', async () => {
    const { host } = hostWith('grubby', ['ro'])
    await host.files.write('/run/ostree-booted', '', attributes)
    expect(await readKernelArguments(host, signal)).toBeUndefined()
  })
})
