import { describe, expect, it } from 'vitest'
import type { WorkKind } from '../../api/window.ts'
import type { Work } from '../../api/work.ts'
import { openPartOf } from './work-kinds.ts'

const maintenance = { required: '/a', inProgress: '/b' }
const both: readonly WorkKind[] = ['Maintenance', 'Reboot']

describe('what of a node’s wishes may be done now', () => {
  const cases: readonly { wished: Work; open: readonly WorkKind[]; done: Work }[] = [
    { wished: { maintenance, reboot: 'Always' }, open: both, done: { maintenance, reboot: 'Always' } },
    { wished: { maintenance, reboot: 'Always' }, open: ['Maintenance'], done: { maintenance, reboot: 'Never' } },
    { wished: { maintenance, reboot: 'Always' }, open: ['Reboot'], done: { reboot: 'Always' } },
    { wished: { maintenance, reboot: 'IfRequired' }, open: both, done: { maintenance, reboot: 'IfRequired' } },
    { wished: { maintenance, reboot: 'IfRequired' }, open: ['Maintenance'], done: { maintenance, reboot: 'Never' } },
    // Nothing of it yet: what it waits for is its maintenance.
    { wished: { maintenance, reboot: 'IfRequired' }, open: ['Reboot'], done: { maintenance, reboot: 'IfRequired' } },
    { wished: { maintenance }, open: ['Maintenance'], done: { maintenance } },
    { wished: { reboot: 'Always' }, open: ['Maintenance'], done: { reboot: 'Always' } },
  ]
  it.each(cases)('$wished where $open may start', ({ wished, open, done }) => {
    expect(openPartOf(wished, (kind) => open.includes(kind))).toEqual(done)
  })
})
