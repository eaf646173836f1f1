// Situations in which something waits for its time.

import { directUpdates } from '../../src/api/direct-update.ts'
import type { MaintenancePolicySpec } from '../../src/api/maintenance-policy.ts'
import type { Reason } from '../../src/api/reason.ts'
import type { Story } from './story.ts'
import type { Situation } from './why-asking.ts'

/** Stories begin on a Monday at 08:00 in UTC. */
const waits = (policy: MaintenancePolicySpec, code: Reason['code']) => async (story: Story) => {
  const { cluster, person, update } = story
  await person.setsPolicy(policy)
  update.script('true')
  const told = () => cluster.sim.server.peek(directUpdates, { name: 'update' })?.status?.nodes ?? []
  await cluster.until(code, () => told().some(({ reason }) => reason?.code === code), 2 * 3_600_000)
}

const asked = (code: Reason['code'], names: RegExp) => [
  { of: 'cp1', code, names },
  { of: 'update', code, names },
]

export const hourSituations: readonly Situation[] = [
  {
    name: 'no window is open',
    arrange: waits({ windows: [{ start: '12:00', end: '13:00' }] }, 'OutsideWindow'),
    asked: asked('OutsideWindow', /outside the maintenance windows; the next opens at 2026-01-05T12:00:00Z/),
  },
  {
    name: 'the cluster is frozen',
    arrange: waits({ freezes: [{ from: '2026-01-01', to: '2026-01-31', reason: 'stocktaking' }] }, 'Frozen'),
    asked: asked('Frozen', /frozen until 2026-02-01T00:00:00Z: stocktaking/),
  },
  {
    name: 'all windows are for another kind of work',
    arrange: waits({ windows: [{ start: '08:00', end: '24:00', work: ['Reboot'] }] }, 'WindowNeverOpens'),
    asked: asked('WindowNeverOpens', /no window for this kind of work \(Update\) opens again/),
  },
  {
    name: 'a window is spelt wrong',
    arrange: waits({ windows: [{ cron: '0 9 31 2 *', duration: '1h' }] }, 'CalendarInvalid'),
    asked: asked('CalendarInvalid', /"0 9 31 2 \*" never fires/),
  },
  {
    name: 'the window closes before a node would be done',
    options: { nodes: 9 },
    arrange: waits({ windows: [{ start: '08:01', end: '08:02' }] }, 'WindowTooShort'),
    asked: [{ of: 'update', code: 'WindowTooShort', names: /a node takes about .*, and the window closes in/ }],
  },
]
