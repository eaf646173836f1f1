import { describe, expect, it } from 'vitest'
import { cliFixture, node } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { daemonSets, namespaces, nodes, pods } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { KubeError } from '../../api/kube-error.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'

const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
const crds = async () => JSON.stringify({ ...definition, metadata: { name: 'nodestates.slipway.dev' } })

async function run(api: FakeKubeApi, ...argv: readonly string[]) {
  const cli = cliFixture(api, { crds })
  const code = await cli.run(...argv)
  return { code, out: cli.out.text, err: cli.err.text }
}

/** Its pods end as soon as they are made. */
function oneHost(phase: 'Succeeded' | 'Failed' = 'Succeeded'): FakeKubeApi {
  const api = new FakeKubeApi().put(nodes, node('w1', { labels: { 'kubernetes.io/os': 'linux' } }))
  api.after = (verb) => {
    if (verb === 'create') api.put(pods, ...api.stored(pods).map((pod) => ({ ...pod, status: { phase } })))
  }
  return api
}

async function installed(api: FakeKubeApi, ...options: readonly string[]): Promise<FakeKubeApi> {
  expect(await run(api, 'install', '--no-wait', ...options)).toMatchObject({ code: 0 })
  return api
}

describe('uninstall --keep-data after one that was refused', () => {
  const keepData = ['uninstall', '--yes', '--keep-data'] as const
  const metadata = { name: 'default' }
  const policyOf = (api: FakeKubeApi) => api.found(maintenancePolicies, metadata)

  /** A node was under work when it was tried first; now none is. */
  async function refusedOnce(spec: { readonly paused?: boolean } = {}): Promise<FakeKubeApi> {
    const api = await installed(new FakeKubeApi())
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

it('decides anew about its stop where a person writes at the same time', async () => {
  const api = await installed(new FakeKubeApi())
  api.put(maintenancePolicies, { metadata: { name: 'default' }, spec: {} })
  let writes = 0
  api.before = (verb, type) => {
    if (verb !== 'patch' || type.kind !== 'MaintenancePolicy' || writes++ > 0) return
    const { metadata } = api.found(maintenancePolicies, { name: 'default' })
    api.put(maintenancePolicies, { metadata: { ...metadata, resourceVersion: '999' }, spec: { paused: true } })
  }
  expect(await run(api, 'uninstall', '--yes', '--keep-data')).toMatchObject({ code: 0 })
  expect(api.found(maintenancePolicies, { name: 'default' }).spec.paused).toBe(true)
})

it('leaves what people said on nodes where data is kept', async () => {
  const api = await installed(new FakeKubeApi().put(nodes, node('w1')))
  expect(await run(api, 'hold', 'w1', '--reason', 'the disk is replaced')).toMatchObject({ code: 0 })
  expect(await run(api, 'uninstall', '--yes', '--keep-data')).toMatchObject({ code: 0 })
  expect(Object.keys(api.found(nodes, { name: 'w1' }).metadata.annotations ?? {})).toContain('slipway.dev/hold')
})

it.each([
  ['names the namespace that goes', false, /policies, and namespace slipway-system with its Secrets from this cluster/],
  ['does not name one that a person made', true, /policies from this cluster/],
])('the question %s', async (_what, isTheirs, said) => {
  const api = new FakeKubeApi()
  if (isTheirs) api.put(namespaces, { metadata: { name: 'slipway-system' } })
  await installed(api)
  const questions: string[] = []
  const confirm = async (question: string) => questions.push(question) < 0
  await cliFixture(api, { crds, confirm }).run('uninstall')
  expect(questions).toEqual([expect.stringMatching(said)])
})

describe('the hosts', () => {
  const uninstall = ['uninstall', '--yes'] as const
  const looked = (api: FakeKubeApi) => api.created.filter(({ kind }) => kind === 'Pod')

  it('are looked after by a second try as well, when the agents are gone already', async () => {
    const api = await installed(oneHost())
    api.remove(daemonSets, { name: 'slipway-agent', namespace: 'slipway-system' })
    const { code, out } = await run(api, ...uninstall)
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('removed what the agents kept on the hosts\n'),
    })
    expect(looked(api)).toMatchObject([{ spec: { nodeName: 'w1' } }])
  })

  it('are left to a person where the agents are their services', async () => {
    const api = await installed(oneHost(), '--host-service')
    const { code, out } = await run(api, ...uninstall)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('The agents are services of their hosts.') })
    expect(looked(api)).toEqual([])
  })

  it('are not asked after where nothing of it is in the cluster any more', async () => {
    const { code, out } = await run(oneHost(), ...uninstall)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Nothing of Slipway was in this cluster') })
  })

  it('are told of where nobody could look after them', async () => {
    const api = await installed(oneHost())
    api.remove(namespaces, { name: 'slipway-system' })
    const { code, out } = await run(api, ...uninstall)
    expect({ code, out }).toEqual({
      code: 3,
      out: expect.stringMatching(/No host was looked after: there is no namespace slipway-system.*--namespace/s),
    })
    expect(await run(api, ...uninstall, '--keep-host-files')).toMatchObject({ code: 0 })
    expect(await run(api, ...uninstall, '--keep-data')).toMatchObject({ code: 0 })
  })

  it('are no longer looked after where the namespace is going since an earlier try', async () => {
    const api = oneHost()
    const metadata = { name: 'slipway-system', deletionTimestamp: '2026-11-15T12:00:00Z' }
    api.put(namespaces, { metadata: { ...metadata, labels: { 'app.kubernetes.io/name': 'slipway' } } })
    api.before = (verb, { plural }) => {
      if (verb !== 'create' || plural !== 'pods') return
      throw new KubeError('Forbidden', 'namespace slipway-system is being terminated', { status: 403 })
    }
    const { code, out } = await run(api, ...uninstall)
    expect({ code, out }).toEqual({
      code: 3,
      out: expect.stringMatching(
        /No host was looked after: namespace slipway-system was being deleted already, .*\nWhere an earlier try .*nothing is left/,
      ),
    })
    expect(out).not.toContain('something of the agent stays')
  })

  it('may keep their journal in another folder', async () => {
    const stateDir = ['--state-dir', '/data/slipway']
    const api = await installed(oneHost('Failed'))
    const { code, out } = await run(api, ...uninstall, ...stateDir)
    expect({ code, out }).toEqual({ code: 3, out: expect.stringContaining('rm -r --one-file-system /data/slipway ') })
    const args = expect.arrayContaining(['--state-dir=/data/slipway'])
    expect(looked(api)).toMatchObject([{ spec: { containers: [{ args }] } }])
    const kept = await run(await installed(oneHost()), ...uninstall, '--keep-host-files', ...stateDir)
    expect(kept.out).toContain('On each host the journal stays in /data/slipway.\n')
    expect(await run(api, ...uninstall, '--state-dir', 'data')).toMatchObject({ code: 2 })
  })
})
