import { describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'

const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
const crds = async () => JSON.stringify({ ...definition, metadata: { name: 'nodestates.slipway.dev' } })

async function run(api: FakeKubeApi, ...argv: readonly string[]) {
  const cli = cliFixture(api, { crds })
  const code = await cli.run(...argv)
  return { code, out: cli.out.text, err: cli.err.text }
}

async function installed(...options: readonly string[]): Promise<FakeKubeApi> {
  const api = new FakeKubeApi()
  expect(await run(api, 'install', '--no-wait', ...options)).toMatchObject({ code: 0 })
  return api
}

describe('uninstall --keep-data after one that was refused', () => {
  const keepData = ['uninstall', '--yes', '--keep-data'] as const
  const metadata = { name: 'default' }
  const policyOf = (api: FakeKubeApi) => api.found(maintenancePolicies, metadata)

  /** A node was under work when it was tried first; now none is. */
  async function refusedOnce(spec: { readonly paused?: boolean } = {}): Promise<FakeKubeApi> {
    const api = await installed()
    const grants = [{ node: 'w1', nodeUID: 'u', holder: 'u/1', since: '2026-11-15T12:00:00Z' }]
    api.put(maintenancePolicies, { metadata, spec, status: { ledger: { epoch: 1, grants } } })
    expect(await run(api, ...keepData)).toMatchObject({ code: 3, err: expect.stringContaining('under work: w1') })
    expect(policyOf(api).spec.paused).toBe(true)
    return api.put(maintenancePolicies, { ...policyOf(api), status: { ledger: { epoch: 1, grants: [] } } })
  }

  it('takes its own stop back', async () => {
    const api = await refusedOnce()
    expect(await run(api, ...keepData)).toMatchObject({ code: 0 })
    expect(policyOf(api).spec).toEqual({})
    expect(policyOf(api).metadata.annotations ?? {}).toEqual({})
    expect(api.stored(resourceDefinitionType)).toHaveLength(1)
  })

  it.each([
    ['was there before', { paused: true }, []],
    ['came between', {}, [['stop', '--all']]],
    [
      'came after a start',
      {},
      [
        ['start', '--all'],
        ['stop', '--all'],
      ],
    ],
  ])('leaves a stop of a person that %s', async (_when, spec, commands) => {
    const api = await refusedOnce(spec)
    for (const words of commands) expect(await run(api, ...words)).toMatchObject({ code: 0 })
    expect(await run(api, ...keepData)).toMatchObject({ code: 0 })
    expect(policyOf(api).spec.paused).toBe(true)
  })
})
