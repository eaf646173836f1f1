import { expect, test } from 'vitest'
import { pickRpmVersion } from './pick-rpm-version.ts'

const offered = ['1.7.10-3.1.el9', '1.7.9-3.1.el9']

test.each([
  ['the newest on offer', [], undefined, '1.7.10-3.1.el9'],
  ['an upgrade', ['1.7.9-3.1.el9'], undefined, '1.7.10-3.1.el9'],
  ['no way back from what is newer than all on offer', ['1.7.27-3.1.el9'], undefined, '1.7.27-3.1.el9'],
  ['none from another epoch', ['1:1.6.0-1.el9'], undefined, '1:1.6.0-1.el9'],
  ['the newest that fits a pattern, installed or not', ['1.7.27-3.1.el9'], '1.7.*', '1.7.27-3.1.el9'],
  ['an older one that is asked for', ['1.7.27-3.1.el9'], '1.7.9', '1.7.9-3.1.el9'],
  ['nothing that nobody offers', ['1.7.27-3.1.el9'], '2.*', undefined],
])('%s', (_, installed, wish, picked) => {
  expect(pickRpmVersion(offered, installed, wish)).toBe(picked)
})
