import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changedArguments,
  changedGrubDefaults,
  grubbyArguments,
  grubEntryArguments,
  isPlainArgument,
  missingKernelArguments,
  splitKernelArguments,
} from './kernel-arguments.ts'

describe('a kernel command line', () => {
  it.each([
    ['', []],
    ['quiet  splash', ['quiet', 'splash']],
    ['root=UUID=1 dyndbg="file a.c +p" ro', ['root=UUID=1', 'dyndbg="file a.c +p"', 'ro']],
    ['console=tty0 console=ttyS0,115200n8\n', ['console=tty0', 'console=ttyS0,115200n8']],
  ])('%j is split', (line, expected) => {
    expect(splitKernelArguments(line)).toEqual(expected)
  })

  it('lacks what is not there as a whole', () => {
    const change = { add: ['console=tty0', 'mitigations=off', 'mitigations=off'], remove: ['quiet', 'splash'] }
    expect(missingKernelArguments(['console=tty0', 'quiet'], change)).toEqual({
      add: ['mitigations=off'],
      remove: ['quiet'],
    })
  })

  it('lacks nothing once it was changed', () => {
    const word = fc.constantFrom('a', 'b', 'a=1', 'a=2', 'c')
    fc.assert(
      fc.property(fc.array(word), fc.uniqueArray(word), fc.uniqueArray(word), (current, add, other) => {
        const change = { add, remove: other.filter((one) => !add.includes(one)) }
        const after = changedArguments(current, change)
        expect(missingKernelArguments(after, change)).toEqual({ add: [], remove: [] })
        expect(changedArguments(after, change)).toEqual(after)
      }),
    )
  })

  it.each(['a b', 'a"b', "a'b", 'a$b', 'a`b', 'a\\b', ''])('%j is no plain argument', (word) => {
    expect(isPlainArgument(word)).toBe(false)
  })
})

describe('/etc/default/grub', () => {
  const text = 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\nGRUB_CMDLINE_LINUX=""\n# end\n'

  it.each([
    ['adds', { add: ['a=1'], remove: [] }, text.replace('GRUB_CMDLINE_LINUX=""', 'GRUB_CMDLINE_LINUX="a=1"')],
    ['removes', { add: [], remove: ['splash'] }, text.replace('quiet splash', 'quiet')],
    ['leaves alone what is there', { add: ['quiet'], remove: ['x'] }, text],
  ])('%s', (_, change, expected) => {
    expect(changedGrubDefaults(text, change)).toBe(expected)
    expect(changedGrubDefaults(expected, change)).toBe(expected)
  })

  it.each([
    ["GRUB_CMDLINE_LINUX='b'\n", "GRUB_CMDLINE_LINUX='b a'\n"],
    ['GRUB_CMDLINE_LINUX=b\n', 'GRUB_CMDLINE_LINUX="b a"\n'],
    ['GRUB_CMDLINE_LINUX="b" # as ever\n', 'GRUB_CMDLINE_LINUX="b a" # as ever\n'],
    [`GRUB_CMDLINE_LINUX='dyndbg="file x +p"'\n`, `GRUB_CMDLINE_LINUX='dyndbg="file x +p" a'\n`],
    ['GRUB_CMDLINE_LINUX="b=\\"c d\\""\n', 'GRUB_CMDLINE_LINUX="b=\\"c d\\" a"\n'],
    ['GRUB_CMDLINE_LINUX="b \\\n c"\n', 'GRUB_CMDLINE_LINUX="b c a"\n'],
    ['GRUB_CMDLINE_LINUX="b"$c\n', 'GRUB_CMDLINE_LINUX="b"$c\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX a"\n'],
    ['GRUB_TIMEOUT=5', 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="a"\n'],
    ['', 'GRUB_CMDLINE_LINUX="a"\n'],
  ])('%j takes an argument', (before, after) => {
    expect(changedGrubDefaults(before, { add: ['a'], remove: [] })).toBe(after)
    expect(changedGrubDefaults(after, { add: ['a'], remove: [] })).toBe(after)
  })

  // A shell reads from top to bottom: what was added at the end, as by `tee -a`, is what counts.
  it.each([
    ['adds', { add: ['a'], remove: [] }, 'GRUB_CMDLINE_LINUX="b"\nGRUB_CMDLINE_LINUX="c a"\n'],
    ['removes', { add: [], remove: ['c'] }, 'GRUB_CMDLINE_LINUX="b"\nGRUB_CMDLINE_LINUX=""\n'],
    [
      'adds what only an overruled line has',
      { add: ['b'], remove: [] },
      'GRUB_CMDLINE_LINUX="b"\nGRUB_CMDLINE_LINUX="c b"\n',
    ],
  ])('%s where a variable is set twice', (_, change, expected) => {
    const before = 'GRUB_CMDLINE_LINUX="b"\nGRUB_CMDLINE_LINUX="c"\n'
    expect(changedGrubDefaults(before, change)).toBe(expected)
    expect(changedGrubDefaults(expected, change)).toBe(expected)
  })

  it('removes from each line that adds to the one before', () => {
    const before = 'GRUB_CMDLINE_LINUX="a b"\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX c a"\n'
    const after = 'GRUB_CMDLINE_LINUX="b"\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX c"\n'
    expect(changedGrubDefaults(before, { add: [], remove: ['a'] })).toBe(after)
    expect(changedGrubDefaults(before, { add: ['b'], remove: [] })).toBe(before)
  })

  it('gives an argument up that a comment follows', () => {
    const before = 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash" # no picture\n'
    const after = 'GRUB_CMDLINE_LINUX_DEFAULT="splash" # no picture\n'
    expect(changedGrubDefaults(before, { add: [], remove: ['quiet'] })).toBe(after)
  })
})

describe('what the next boot gets', () => {
  it('by grub.cfg, its first entry', () => {
    const config = [
      "menuentry 'Debian GNU/Linux' --class debian {",
      '\tlinux\t/boot/vmlinuz-6.1.0-30-amd64 root=UUID=1 ro  quiet',
      '\tinitrd\t/boot/initrd.img-6.1.0-30-amd64',
      '}',
      '\tlinux\t/boot/vmlinuz-6.1.0-30-amd64 root=UUID=1 ro single',
    ].join('\n')
    expect(grubEntryArguments(config)).toEqual(['root=UUID=1', 'ro', 'quiet'])
    expect(grubEntryArguments('set default="0"\n')).toBeUndefined()
  })

  it('by grubby', () => {
    const info =
      'index=0\nkernel="/boot/vmlinuz-5.14.0"\nargs="ro crashkernel=1G-4G:192M rhgb quiet"\nroot="/dev/sda1"\n'
    expect(grubbyArguments(info)).toEqual(['ro', 'crashkernel=1G-4G:192M', 'rhgb', 'quiet'])
    expect(grubbyArguments('')).toBeUndefined()
  })
})
