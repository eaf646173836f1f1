// Whoever judges the budget must count right himself: a cluster of plain requests, told to the foreign witness.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { auditTestimony, Witness, whyNoPython } from '../rollout-rig/foreign-program.ts'
import { kubectl } from '../rollout-rig/installation.ts'
import { type PlainRequest, plainRequests } from './plain-request.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoPython())
const merge = 'application/merge-patch+json'
const zone = 'topology.kubernetes.io/zone'

describe.skipIf(missing)('the foreign witness', () => {
  let server: ApiServer
  let send: PlainRequest
  let witness: Witness

  const patch = async (path: string, body: object) => {
    const { status } = await send('PATCH', `/api/v1/nodes/${path}`, { body, contentType: merge })
    expect(status).toBe(200)
  }
  const ready = (name: string, status: 'True' | 'False') =>
    patch(`${name}/status`, { status: { conditions: [{ type: 'Ready', status }] } })
  const cordon = (name: string, unschedulable: boolean | null) => patch(name, { spec: { unschedulable } })

  beforeAll(async () => {
    server = await startApiServer({ controllers: false, audit: true, auditWhole: ['nodes'] })
    send = await plainRequests(server.kubeconfigPath)
    for (const [index, name] of ['n1', 'n2', 'n3', 'n4', 'n5'].entries()) {
      const metadata = { name, labels: { [zone]: index < 3 ? 'a' : 'b' } }
      await send('POST', '/api/v1/nodes', { body: { apiVersion: 'v1', kind: 'Node', metadata } })
      await ready(name, 'True')
    }
    witness = await Witness.start(server)
  })

  afterAll(async () => {
    await witness?.stop()
    await server?.stop()
  })

  test('counts cordons and nodes that are not Ready, once each, and so does the audit log', async () => {
    await cordon('n1', true)
    await cordon('n1', null)
    await cordon('n2', true)
    await cordon('n4', true)
    await ready('n4', 'False')
    await ready('n3', 'False')
    await cordon('n2', null)
    // The watch breaks and is taken up again: two away now, so the most is still of before.
    await witness.catchUp()
    await server.killApi()
    await server.startApi()
    await ready('n3', 'True')
    await patch('n5', { metadata: { annotations: { 'example.com/rebooted-by-stranger': 'yes' } } })
    await cordon('n5', true)
    await kubectl(server, ['delete', 'node', 'n4'])
    const watched = await witness.testify()
    const both = {
      most: { away: 3, names: ['n2', 'n3', 'n4'] },
      zones: { a: { away: 2, names: ['n2', 'n3'] }, b: { away: 2, names: ['n4', 'n5'] } },
      besideStranger: { away: 2, names: ['n4', 'n5'] },
    }
    expect(watched).toMatchObject({ ...both, nodes: 4, awayNow: ['n5'], changes: 9 })
    expect(watched.outages).toBeGreaterThan(0)
    expect(await auditTestimony(server, watched.since)).toMatchObject({
      ...both,
      nodes: 5,
      awayNow: ['n4', 'n5'],
      changes: 8,
    })
  })
})
