import { describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { deployments, type KubeObject, namespaces } from '../../api/kube.ts'
import { clusterRoleBindings, kindOf } from '../install/installed-kinds.ts'

const ours = { 'app.kubernetes.io/name': 'slipway' }
const privileged = { 'pod-security.kubernetes.io/enforce': 'privileged' }
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
const roles = kindOf({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' })
const crds = async () => JSON.stringify({ ...definition, metadata: { name: 'nodestates.slipway.dev' } })

async function install(api: FakeKubeApi): Promise<string> {
  const cli = cliFixture(api, { crds })
  expect(await cli.run('install', '--namespace', 'maintenance', '--no-wait')).toBe(0)
  return cli.err.text
}

async function uninstall(api: FakeKubeApi): Promise<string> {
  const cli = cliFixture(api)
  expect({ code: await cli.run('uninstall', '--yes'), err: cli.err.text }).toEqual({ code: 0, err: expect.any(String) })
  return cli.out.text
}

const labelsOfNamespace = (api: FakeKubeApi) => api.found(namespaces, { name: 'maintenance' }).metadata.labels

describe('the namespace', () => {
  it('that install makes is ours: it goes with us', async () => {
    const api = new FakeKubeApi()
    await install(api)
    expect(await install(api)).not.toContain('not of our making')
    expect(labelsOfNamespace(api)).toEqual({ ...ours, ...privileged })
    expect(await uninstall(api)).toContain('removed namespace maintenance\n')
    expect(api.stored(namespaces)).toEqual([])
  })

  it('that a person made stays theirs, however often Slipway is installed there', async () => {
    const api = new FakeKubeApi().put(namespaces, { metadata: { name: 'maintenance', labels: { team: 'a' } } })
    await install(api)
    expect(await install(api)).toContain('namespace maintenance is not of our making')
    expect(labelsOfNamespace(api)).toEqual({ team: 'a', ...privileged })
    expect(await uninstall(api)).toContain('namespace maintenance is not of our making and stays\n')
    expect(api.stored(deployments)).toEqual([])
    expect(labelsOfNamespace(api)).toEqual({ team: 'a', ...privileged })
  })
})

describe('what bears our label and is not ours', () => {
  const helms = { ...ours, 'app.kubernetes.io/managed-by': 'Helm' }
  const foreign = [
    { type: clusterRoleBindings, metadata: { name: 'team-a-editors', labels: ours } },
    { type: clusterRoleBindings, metadata: { name: 'slipway-ui', labels: helms } },
    { type: deployments, metadata: { name: 'web', namespace: 'default', labels: ours } },
    { type: deployments, metadata: { name: 'slipway-operator', namespace: 'boats', labels: ours } },
    { type: roles, metadata: { name: 'slipway-readers', namespace: 'boats', labels: ours } },
  ]

  it('survives install and uninstall, and what an earlier installation had besides does not', async () => {
    const api = new FakeKubeApi()
    for (const { type, metadata } of foreign) api.put(type, { metadata })
    const earlier = [
      { name: 'slipway-operator', namespace: 'kube-node-lease', labels: ours },
      { name: 'slipway-operator-lock-kured', namespace: 'reboots', labels: ours },
      { name: 'slipway-formerly', namespace: 'maintenance', labels: ours },
    ]
    for (const metadata of earlier) api.put(roles, { metadata })
    expect(await install(api)).toContain('removed Role reboots/slipway-operator-lock-kured\n')
    expect(api.find(roles, { name: 'slipway-formerly', namespace: 'maintenance' })).toBeUndefined()
    await uninstall(api)
    const left = [roles, clusterRoleBindings, deployments].flatMap((type) => api.stored<KubeObject>(type))
    expect(left.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      foreign.map(({ metadata }) => metadata.name).toSorted(),
    )
  })
})
