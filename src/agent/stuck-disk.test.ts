import { expect, it } from 'vitest'
import { SlipwayError } from '../api/slipway-error.ts'
import { stuckCode } from './stuck-disk.ts'

it.each([
  ['DiskFull', '/var/lib/slipway/orders/op-1/order.json', 'JournalUnwritable'],
  ['DiskFailed', '/var/lib/slipway', 'JournalUnwritable'],
  ['DiskFailed', '/var/lib/slipway-old/x', 'StepFailed'],
  ['DiskFailed', '/etc/apt/preferences.d/old', 'StepFailed'],
  ['JournalCorrupt', undefined, 'JournalCorrupt'],
  ['Internal', undefined, undefined],
] as const)('%s at %s is told as %s', (code, path, told) => {
  expect(stuckCode(new SlipwayError(code, 'x', { ...(path && { path }) }), '/var/lib/slipway')).toBe(told)
})
