import type { RefusalCase } from './cases.ts'

const url = 'http://alertmanager:9093'
const webhook = { url: 'https://hooks.example.org/in' }

function policy(what: string, spec: object, field: string, says: string): RefusalCase {
  return { what, kind: 'MaintenancePolicy', spec, field, says }
}

/** Whom Slipway tells, and whose alerts it silences. */
export const refusedTelling: readonly RefusalCase[] = [
  policy(
    'a silence for every node',
    { silences: [{ url, matchers: ['severity="warning"'] }] },
    'spec.silences[0].matchers',
    'needs a matcher with {node}',
  ),
  policy(
    'a matcher that Alertmanager could not read',
    { silences: [{ url, matchers: ['node={node}'] }] },
    'spec.silences[0].matchers',
    'must be a matcher such as',
  ),
  policy(
    'two silences of one name',
    { silences: [1, 2].map(() => ({ url, matchers: ['node="{node}"'] })) },
    'spec.silences',
    'has a name twice',
  ),
  policy(
    'a receiver without an address',
    { notifications: [{ name: 'ops', webhook: {} }] },
    'spec.notifications[0].webhook',
    'names exactly one of url and urlSecret',
  ),
  policy(
    'two receivers of one name',
    { notifications: [1, 2].map(() => ({ name: 'ops', webhook })) },
    'spec.notifications',
    'has a receiver name twice',
  ),
]
