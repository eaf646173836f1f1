// Agents as services of their hosts: what a kubelet's credentials may do after `slipway install --print --host-service`.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { reachOf } from './every-request.ts'
import { type Answer, type PlainRequest, plainRequests } from './plain-request.ts'
import { writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const ours = '/apis/slipway.dev/v1alpha1/nodestates'
const facts = { os: 'x', kernel: 'x', architecture: 'x', versionsOnOffer: [] }
const agent = { version: '0.1.0', bootID: 'b', epoch: 0, drivers: [], facts }
let server: ApiServer
let admin: PlainRequest
let kubelet: PlainRequest
let reachedBefore: readonly string[]

const reached = async () => {
  const target = { namespaces: [namespace, 'kube-system'], names: ['w1', 'w2'] }
  // In a namespace it is the place that counts, not which object there was found to try it on.
  return (await reachOf(kubelet, admin, target)).map(({ what }) => what.replace(/\/[^/ ]+$/, ''))
}

const patch = (path: string, body: object): Promise<Answer> =>
  kubelet('PATCH', `${ours}/${path}`, { body, contentType: 'application/merge-patch+json' })

describe.skipIf(missing)('an agent with its kubelet’s credentials', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    admin = await plainRequests(server.kubeconfigPath)
    const { certificate, key } = makePair(server.authority, { name: 'system:node:w1', group: 'system:nodes' })
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
    kubelet = await plainRequests(await writeKubeconfig(server, 'kubelet-w1', user))
    reachedBefore = await reached()
    const { out } = await runSlipway(['install', '--print', '--host-service', '--namespace', namespace])
    await kubectl(server, ['apply', '-f', '-'], out)
    await kubectl(server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s'])
    for (const name of ['w1', 'w2']) {
      const state = { apiVersion: 'slipway.dev/v1alpha1', kind: 'NodeState', metadata: { name }, spec: {} }
      await kubectl(server, ['create', '-f', '-'], JSON.stringify(state))
    }
    // The API server takes a moment to act on a new admission policy.
    await vi.waitFor(async () => expect((await patch('w2/status', { status: { agent } })).status).toBe(422), 60_000)
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('has no more than before but its orders, their contents, and its own report', async () => {
    const more = (await reached()).filter((what) => !reachedBefore.includes(what))
    expect(more.sort()).toEqual([
      `get configmaps ${namespace}`,
      'get nodestates.slipway.dev w1',
      'get nodestates.slipway.dev w2',
      'list nodestates.slipway.dev',
      'patch nodestates.slipway.dev/status w1',
      'watch nodestates.slipway.dev',
    ])
  })

  test('reports on its own node', async () => {
    expect(await patch('w1/status', { status: { agent } })).toMatchObject({ status: 200, body: { status: { agent } } })
  })

  test('writes neither another node’s report nor the operator’s half of its own', async () => {
    const { body } = await patch('w2/status', { status: { agent } })
    expect(body.message).toContain('own node only: w1, not w2')
    const rollout = { update: 'x', operationID: 'x', phase: 'Done', since: '2026-01-01T00:00:00Z', attempt: 1 }
    expect((await patch('w1/status', { status: { rollout } })).body.message).toContain('operator’s')
    expect(await patch('w1', { spec: { logs: null } })).toMatchObject({ status: 403 })
  })

  test('reads its orders and the content they name', async () => {
    expect(await kubelet('GET', ours)).toMatchObject({ status: 200 })
    expect(await kubelet('GET', `/api/v1/namespaces/${namespace}/configmaps/none`)).toMatchObject({ status: 404 })
    expect(await kubelet('GET', `/api/v1/namespaces/${namespace}/secrets/none`)).toMatchObject({ status: 403 })
  })
})
