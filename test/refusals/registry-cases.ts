import type { RefusalCase } from './cases.ts'

const image = 'registry.example/os:1.*'

function policy(what: string, registries: readonly object[], field: string, says: string): RefusalCase {
  return { what, kind: 'MaintenancePolicy', spec: { registries }, field, says }
}

/** OS images and the registries they come from. */
export const refusedRegistries: readonly RefusalCase[] = [
  policy(
    'an address for a registry',
    [{ host: 'https://registry.example' }],
    'spec.registries[0].host',
    'must be the host of a registry as images name it',
  ),
  policy(
    'a registry twice',
    [{ host: 'registry.example' }, { host: 'registry.example', plain: true }],
    'spec.registries',
    'has a host twice',
  ),
  policy(
    'a mirror without an address',
    [{ host: 'registry.example', mirrors: ['mirror.example'] }],
    'spec.registries[0].mirrors[0]',
    'must be an http or https address',
  ),
  policy(
    'no name of a Secret',
    [{ host: 'registry.example', secret: 'My Secret' }],
    'spec.registries[0].secret',
    'must be the name of an object',
  ),
  {
    ...{ what: 'a pattern for the hosts to look up', kind: 'DirectUpdate', field: 'spec.os' },
    spec: { os: { image, resolve: 'Host' } },
    says: 'a tag with * is looked up by the operator',
  },
  {
    ...{ what: 'nothing to look up', kind: 'DirectUpdate', field: 'spec.os' },
    spec: { os: { packages: 'All', resolve: 'Host' } },
    says: 'os.resolve says who looks os.image up',
  },
  {
    ...{ what: 'nobody who looks it up', kind: 'DirectUpdate', field: 'spec.os.resolve' },
    spec: { os: { image, resolve: 'Somebody' } },
    serverSays: 'Unsupported value',
  },
]
