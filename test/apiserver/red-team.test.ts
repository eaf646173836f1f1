// Somebody has an agent's token. They try every verb of every resource there is, on objects of their own node and of others,
// and what else comes to mind. In the end the whole cluster is compared with what it was.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { agentDaemonSet, operatorDeployment } from '../../src/cli/install/workloads.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { accountAccess, installSlipway, kubectl, namespace } from '../rollout-rig/installation.ts'
import { allObjects, differences, isRefused, reachOf } from './every-request.ts'
import { type Answer, type PlainRequest, plainRequests } from './plain-request.ts'

const missing = await whyNoApiServer()
const states = '/apis/slipway.dev/v1alpha1/nodestates'
const facts = { os: 'x', kernel: 'x', architecture: 'x', versionsOnOffer: [] }
const agent = { version: '0.1.0', bootID: 'b', epoch: 0, drivers: [], facts }
const rollout = { update: 'x', operationID: 'x', phase: 'Done', since: '2026-01-01T00:00:00Z', attempt: 1 }
const failed = [{ operationID: 'earlier', phase: 'Failed', attempt: 1 }]
const merge = 'application/merge-patch+json'

describe.skipIf(missing)('a stolen token of an agent', () => {
  let server: ApiServer
  let admin: PlainRequest
  let thief: PlainRequest
  let before: ReadonlyMap<string, object>

  const patch = (path: string, body: object): Promise<Answer> =>
    thief('PATCH', `${states}/${path}`, { body, contentType: merge })
  const create = (object: object, ...args: readonly string[]) =>
    kubectl(server, ['create', ...args, '-f', '-'], JSON.stringify(object))

  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    await installSlipway(server)
    admin = await plainRequests(server.kubeconfigPath)
    for (const name of ['w1', 'w2']) {
      await create({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
      await create({ apiVersion: 'slipway.dev/v1alpha1', kind: 'NodeState', metadata: { name }, spec: {} })
      const body = { status: { agent, rollout, completed: ['earlier'], failed } }
      await admin('PATCH', `${states}/${name}/status`, { body, contentType: merge })
    }
    const containers = [{ name: 'c', image: 'c' }]
    for (const place of [namespace, 'kube-system', 'default']) {
      await create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers } }, '-n', place)
      await create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: 'dg==' } }, '-n', place)
      await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { k: 'v' } }, '-n', place)
    }
    await create({
      ...{ apiVersion: 'slipway.dev/v1alpha1', kind: 'DirectUpdate', metadata: { name: 'w1' } },
      spec: { kubernetes: { version: 'v1.36.3' } },
    })
    const uid = (await kubectl(server, ['get', 'node', 'w1', '-o', 'jsonpath={.metadata.uid}'])).trim()
    const { kubeconfig } = await accountAccess(server, 'slipway-agent', 'agent.conf', { name: 'w1', uid })
    thief = await plainRequests(kubeconfig)
    // The API server takes a moment to act on a new admission policy.
    await vi.waitFor(async () => expect((await patch('w2/status', { status: { agent } })).status).toBe(422), 60_000)
    // The storage of a kind is made when it is first asked for.
    before = await vi.waitFor(() => allObjects(admin), 60_000)
  })

  afterAll(async () => {
    await server?.stop()
  })

  test('of every request there is it reaches NodeStates to read, its own status to write, and contents of orders', async () => {
    const target = { namespaces: [namespace, 'kube-system', 'default'], names: ['w1', 'w2'] }
    const reached = await reachOf(thief, admin, target)
    expect(reached.map(({ what }) => what).sort()).toEqual([
      // Who am I, and what may I do: everybody may ask, and nothing is kept of it.
      'create selfsubjectaccessreviews.authorization.k8s.io',
      'create selfsubjectreviews.authentication.k8s.io',
      'create selfsubjectrulesreviews.authorization.k8s.io',
      `get configmaps ${namespace}/c`,
      'get nodestates.slipway.dev w1',
      'get nodestates.slipway.dev w2',
      'list nodestates.slipway.dev',
      'patch nodestates.slipway.dev/status w1',
      'watch nodestates.slipway.dev',
    ])
  })

  test('pages of the server that tell of the cluster are refused', async () => {
    const pages = ['/metrics', '/logs', '/debug/pprof', '/configz', '/statusz', '/flagz']
    const answers = await Promise.all(pages.map(async (page) => (await thief('GET', page)).status))
    expect(answers.filter((status) => status === 200)).toEqual([])
    expect(answers[0]).toBe(403)
  })

  test('nobody can be played: not a user, not a group, not the operator', async () => {
    const masks = [
      { 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters' },
      { 'Impersonate-User': `system:serviceaccount:${namespace}:slipway-operator` },
      { 'Impersonate-User': 'system:node:w2', 'Impersonate-Group': 'system:nodes' },
    ]
    for (const headers of masks) {
      expect(await thief('GET', '/api/v1/secrets', { headers })).toMatchObject({ status: 403 })
    }
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    for (const account of ['slipway-operator', 'slipway-agent']) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
      expect(await thief('POST', path, { body: token })).toMatchObject({ status: 403 })
    }
  })

  test('pods are neither listed, entered nor evicted, nodes not patched, Secrets not read', async () => {
    const pod = `/api/v1/namespaces/${namespace}/pods/p`
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace } }
    const node = { body: { spec: { unschedulable: true } }, contentType: merge }
    const answers = [
      await thief('GET', '/api/v1/pods'),
      await thief('GET', `${pod}/exec?command=sh`),
      await thief('POST', `${pod}/eviction`, { body: eviction }),
      await thief('PATCH', '/api/v1/nodes/w1', node),
      await thief('PATCH', '/api/v1/nodes/w1/status', node),
      await thief('GET', `/api/v1/namespaces/${namespace}/secrets/s`),
    ]
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(403))
  })

  test.each([
    ['w1', { spec: { rollCall: 'x' } }, /cannot patch resource "nodestates"/],
    ['w1', { metadata: { finalizers: ['a/b'] } }, /cannot patch resource "nodestates"/],
    ['w1/status', { status: { rollout: { ...rollout, phase: 'Failed' } } }, /status\.rollout is the operator’s/],
    ['w1/status', { status: { rollout: null } }, /status\.rollout is the operator’s/],
    ['w1/status', { status: { completed: ['earlier', 'mine'] } }, /status\.completed is the operator’s/],
    ['w1/status', { status: { completed: null } }, /status\.completed is the operator’s/],
    ['w1/status', { status: { failed: [{ ...failed[0], attempt: 2 }] } }, /status\.failed is the operator’s/],
    ['w1/status', { status: { failed: null } }, /status\.failed is the operator’s/],
    ['w1/status', { status: null }, /is the operator’s/],
    ['w2/status', { status: { agent } }, /of its own node only: w1, not w2/],
  ])('%s takes no %j', async (path, body, says) => {
    const answer = await patch(path, body)
    expect(isRefused(answer)).toBe(true)
    expect(answer.body.message).toMatch(says)
  })

  test('what rides along with its report is dropped', async () => {
    const metadata = { labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: ['a/b'] }
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'w2', uid: 'u' }
    const body = { metadata: { ...metadata, ownerReferences: [owner] }, spec: { rollCall: 'x' }, status: { agent } }
    expect(await patch('w1/status', body)).toMatchObject({ status: 200 })
    const { body: now } = await admin('GET', `${states}/w1`)
    expect(now).toMatchObject({ spec: {} })
    expect(Object.keys(Object(now.metadata))).not.toEqual(expect.arrayContaining(['labels']))
    expect(Object.keys(Object(now.metadata))).not.toEqual(expect.arrayContaining(['finalizers']))
  })

  test('the operator’s pod is taken where only restricted ones are, the agent’s only where it may be privileged', async () => {
    const level = 'pod-security.kubernetes.io/enforce=restricted'
    await kubectl(server, ['create', 'namespace', 'strict'])
    await kubectl(server, ['label', 'namespace', 'strict', level])
    const tries = [operatorDeployment, agentDaemonSet].map(async (workload) => {
      const { template } = Object(workload({ namespace, image: 'i' }).spec)
      const { serviceAccountName: _account, priorityClassName: _class, ...spec } = template.spec
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: template.metadata.labels }, spec }
      return await admin('POST', '/api/v1/namespaces/strict/pods?dryRun=All', { body: pod })
    })
    const [ofOperator, ofAgent] = await Promise.all(tries)
    await kubectl(server, ['delete', 'namespace', 'strict', '--wait=false'])
    expect(ofOperator).toMatchObject({ status: 201 })
    expect(ofAgent).toMatchObject({ status: 403, body: { message: expect.stringContaining('restricted') } })
  })

  test('a token that names no node writes nothing', async () => {
    const { kubeconfig } = await accountAccess(server, 'slipway-agent', 'unbound.conf')
    const send = await plainRequests(kubeconfig)
    const answer = await send('PATCH', `${states}/w1/status`, { body: { status: { agent } }, contentType: merge })
    expect(answer).toMatchObject({ status: 422 })
  })

  test('in the end its own report is all that changed', async () => {
    const forged = { ...agent, version: '6.6.6' }
    expect(await patch('w1/status', { status: { agent: forged } })).toMatchObject({ status: 200 })
    const after = await allObjects(admin)
    const own = 'nodestates.slipway.dev/v1alpha1 /w1'
    const ofTheTest = (place: string) => place.includes('/strict')
    expect(differences(before, after).filter((place) => !ofTheTest(place))).toEqual([own])
    const was = Object(before.get(own))
    expect(after.get(own)).toEqual({ ...was, status: { ...was.status, agent: forged } })
  })
})
