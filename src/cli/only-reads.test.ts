import { expect, it } from 'vitest'
import { onlyReads } from './command-list.ts'

it.each([
  [['status', '-w'], true],
  [['--context', 'lab', 'nodes'], true],
  [['help', 'why'], true],
  [['uninstall', '--yes'], false],
  [['install'], false],
  [['backup', 'restore', 'b'], false],
  [['agent'], false],
  [['verify', 'slipway.tar'], false],
  // A context may be called anything.
  [['--context', 'status', 'uninstall'], false],
  [[], false],
])('%j: %s', (argv, reads) => {
  expect(onlyReads(argv)).toBe(reads)
})
