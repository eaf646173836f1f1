import { kubernetes, type RefusalCase } from './cases.ts'

const at = '2026-12-01T22:00:00+01:00'
const template = { spec: { kubernetes } }
const form = 'has either start and end (with days), or cron and duration'

function policy(what: string, spec: object, field: string, says: string): RefusalCase {
  return { what, kind: 'MaintenancePolicy', spec, field, says }
}

/** When work may start, and when it is made. */
export const refusedTimes: readonly RefusalCase[] = [
  policy(
    'a window of no length',
    { windows: [{ start: '22:00', end: '22:00' }] },
    'spec.windows[0]',
    'opens and closes at the same time',
  ),
  policy('a window without an end', { windows: [{ start: '22:00' }] }, 'spec.windows[0]', form),
  policy(
    'a window of both kinds',
    { windows: [{ start: '22:00', end: '23:00', cron: '0 3 * * *', duration: '1h' }] },
    'spec.windows[0]',
    form,
  ),
  policy(
    'a window at no time',
    { windows: [{ start: '25:00', end: '26:00' }] },
    'spec.windows[0].start',
    'must be a time of the day such as 22:00',
  ),
  policy(
    'a freeze on no day',
    { freezes: [{ from: 'Christmas', to: '2026-12-26', reason: 'holidays' }] },
    'spec.freezes[0].from',
    'must be a day such as 2026-12-20',
  ),
  {
    ...{ what: 'a freeze without a reason', kind: 'MaintenancePolicy', field: 'spec.freezes[0].reason' },
    spec: { freezes: [{ from: '2026-12-20', to: '2026-12-26' }] },
    serverSays: 'Required value',
  },
  {
    ...{ what: 'a schedule at no time', kind: 'ScheduledUpdate', field: 'spec.at' },
    spec: { at: 'tonight', template },
    says: 'must be a time such as 2026-12-01T22:00:00+01:00',
  },
  {
    ...{ what: 'a schedule of nothing', kind: 'ScheduledUpdate', field: 'spec.template.spec' },
    spec: { at, template: { spec: {} } },
    says: 'names nothing to do',
  },
  {
    ...{ what: 'a schedule that keeps none', kind: 'UpdateSchedule', field: 'spec.keep' },
    spec: { cron: '@daily', keep: 0, template },
    serverSays: 'should be greater than or equal to 1',
  },
]
