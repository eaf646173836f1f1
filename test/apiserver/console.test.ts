// `slipway console` as a person starts it, against a real API server: what they do in it is theirs, and what they may not is said.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ActionRequest, Rights } from '../../src/api/console.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { readStream } from '../browser/stream-reader.ts'
import { auditedWrites } from '../rollout-rig/audit-log.ts'
import { installSlipway, kubectl } from '../rollout-rig/installation.ts'
import { SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { type RealClient, realClient, writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const person = 'mira'
const rules = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['slipway.dev'], resources: ['directupdates'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { apiGroups: ['slipway.dev'], resources: ['nodestates', 'maintenancepolicies'], verbs: ['get', 'list', 'watch'] },
]

describe.skipIf(missing)('the console of a person with few rights', () => {
  let server: ApiServer
  let admin: RealClient
  let console: SlipwayProcess
  let at: { readonly port: number; readonly token: string }

  beforeAll(async () => {
    server = await startApiServer({ controllers: false, audit: true })
    await installSlipway(server)
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: person }, rules }
    await kubectl(server, ['create', '-f', '-'], JSON.stringify(role))
    await kubectl(server, ['create', 'clusterrolebinding', person, `--clusterrole=${person}`, `--user=${person}`])
    admin = await realClient(server.kubeconfigPath)
    await admin.api.create(nodes, { metadata: { name: 'w1' }, spec: {} }, signal)
    const { apiVersion, kind } = directUpdates
    const spec = { kubernetes: { version: 'v1.36.3' } }
    await admin.api.create(directUpdates, { apiVersion, kind, metadata: { name: 'to-1-36' }, spec }, signal)
    const pair = makePair(server.authority, { name: person })
    const user = {
      'client-certificate-data': Buffer.from(pair.certificate).toString('base64'),
      'client-key-data': Buffer.from(pair.key).toString('base64'),
    }
    const kubeconfig = await writeKubeconfig(server, 'person.conf', user)
    console = new SlipwayProcess('console', ['console', '--kubeconfig', kubeconfig], join(server.dir, 'console.log'))
    console.start()
    await vi.waitFor(() => expect(console.log).toContain('console: http://127.0.0.1:'), 60_000)
    const url = new URL(/http:\S+/.exec(console.log)?.[0] ?? '')
    at = { port: Number(url.port), token: url.searchParams.get('token') ?? '' }
  })

  afterAll(async () => {
    await console?.stop()
    await admin?.api.close()
    await server?.stop()
  })

  const headers = () => ({ authorization: `Bearer ${at.token}`, 'content-type': 'application/json' })
  const act = (request: ActionRequest) =>
    fetch(`http://127.0.0.1:${at.port}/api/actions`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify(request),
    })

  test('it shows what they may see, and names what they may not', async () => {
    const reader = await readStream(at)
    expect(Object.keys(reader.state.nodes)).toEqual(['w1'])
    expect(Object.keys(reader.state.updates)).toEqual(['to-1-36'])
    expect(reader.state.missing).toEqual(['list scheduledupdates.slipway.dev', 'list updateschedules.slipway.dev'])
    expect(reader.state.cluster.kubernetes).toMatch(/^v1\./)
    reader.close()
    const response = await fetch(`http://127.0.0.1:${at.port}/api/rights`, { headers: headers() })
    const { user, actions } = (await response.json()) as Rights
    expect(user).toBe(person)
    expect(actions.pause).toEqual({ allowed: true })
    expect(actions.hold).toEqual({ allowed: false, missing: 'patch nodes' })
    expect(actions['stop-all']).toEqual({ allowed: false, missing: 'patch maintenancepolicies.slipway.dev' })
  })

  test('an action is a write of theirs, shown at once; one they have no right to is refused by the API server', async () => {
    const reader = await readStream(at)
    expect((await act({ action: 'pause', update: 'to-1-36' })).status).toBe(200)
    await expect.poll(() => reader.state.updates['to-1-36']?.desiredState).toBe('Paused')
    const { metadata } = await admin.api.get(directUpdates, { name: 'to-1-36' }, signal)
    expect(metadata.managedFields?.map(({ manager }) => manager)).toContainEqual(expect.stringContaining('slipway'))
    const refused = await act({ action: 'hold', nodes: ['w1'] })
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ message: 'you may not patch nodes in the whole cluster' })
    const written = (await auditedWrites(server)).filter(({ user, verb }) => user === person && verb === 'patch')
    expect(written.map(({ target, code }) => [target, code])).toEqual([
      ['directupdates/to-1-36', 200],
      ['nodes/w1', 403],
    ])
    reader.close()
  })

  test('a server that goes away and comes back is told, and what it says then is shown', async () => {
    const reader = await readStream(at)
    await server.killApi()
    await expect.poll(() => reader.state.trouble?.nextStep).toBeDefined()
    await server.startApi()
    await expect.poll(() => reader.state.trouble, { timeout: 60_000 }).toBeUndefined()
    await admin.api.create(nodes, { metadata: { name: 'w2' }, spec: {} }, signal)
    await expect.poll(() => Object.keys(reader.state.nodes), { timeout: 60_000 }).toEqual(['w1', 'w2'])
    reader.close()
  })

  test('the token is in no log but the one line that was asked for', () => {
    expect(console.log.split(at.token)).toHaveLength(2)
  })
})
