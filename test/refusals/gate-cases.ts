// Gates and hooks that make no sense.

import { kubernetes, type RefusalCase } from './cases.ts'

const gate = (what: string, spec: object, says: string, field = 'spec.gates[0]'): RefusalCase => ({
  what: `a gate with ${what}`,
  kind: 'DirectUpdate',
  spec: { kubernetes, gates: [spec] },
  field,
  says,
})
const hooks = (what: string, list: readonly object[], says: string, field = 'spec.hooks[0]'): RefusalCase => ({
  what: `a hook with ${what}`,
  kind: 'DirectUpdate',
  spec: { kubernetes, hooks: list },
  field,
  says,
})

const url = 'http://prometheus.monitoring:9090'
const job = { cronJob: 'smoke' }

export const refusedGates: readonly RefusalCase[] = [
  gate('no query', { type: 'Prometheus', url, max: 0 }, 'a gate of type Prometheus needs url and query'),
  gate('no bound', { type: 'Prometheus', url, query: 'up' }, 'a gate of type Prometheus needs max, min or equals'),
  gate('no address', { type: 'Http' }, 'a gate of type Http needs url'),
  gate('no expression', { type: 'Cel' }, 'a gate of type Cel needs expression'),
  gate('no CronJob', { type: 'Job' }, 'a gate of type Job needs cronJob'),
  gate(
    'a field of another type',
    { type: 'NodeReady', query: 'up' },
    'a gate of type NodeReady takes selector besides',
  ),
  gate('an address of another scheme', { type: 'Http', url: 'ftp://x' }, 'must be an http', 'spec.gates[0].url'),
  gate('a time-out of nothing', { type: 'NodeReady', timeout: '0s' }, 'must be a duration', 'spec.gates[0].timeout'),
  {
    what: 'a gate of the policy without its address',
    kind: 'MaintenancePolicy',
    spec: { gates: [{ type: 'Alertmanager' }] },
    field: 'spec.gates[0]',
    says: 'a gate of type Alertmanager needs url',
  },
  hooks('nothing to do', [{ name: 'a', when: 'BeforeNode' }], 'names exactly one of job and http'),
  hooks(
    'two things to do',
    [{ name: 'a', when: 'BeforeNode', job, http: { url } }],
    'names exactly one of job and http',
  ),
  hooks(
    'a clean-up that does nothing',
    [{ name: 'a', when: 'BeforeNode', job, cleanup: {} }],
    'names exactly one of job and http',
    'spec.hooks[0].cleanup',
  ),
  hooks(
    'the name of another',
    [
      { name: 'a', when: 'BeforeNode', job },
      { name: 'a', when: 'AfterNode', job },
    ],
    'has a hook name twice: each hook has its own',
    'spec.hooks',
  ),
]
