// Secrets that are easy to recognise are put wherever Slipway takes one, and used. Then all that it leaves for others to read is
// searched: objects, Events, logs, metrics, arguments of processes, what commands print.

import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { configMaps, secrets } from '../../src/api/kube.ts'
import { type MaintenancePolicySpec, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { secretsIn } from '../bed/secret-forms.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { allObjects } from './every-request.ts'
import { plainRequests } from './plain-request.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const patience = { timeout: 240_000, interval: 200 }

const planted = {
  'gate token': 'planted-gate-token-Zk3q',
  'registry password': 'planted-registry-password-8wXe',
  'store key': 'planted-store-key-pL0v',
  'encryption key': 'planted-passphrase-for-backups-Qm7s',
  'file of a profile': 'planted-file-content-9rTb',
  'Alertmanager token': 'planted-alertmanager-token-4nHd',
  'address of a receiver': 'planted-address-of-a-receiver-Vc2y',
  'signing key': 'planted-signing-key-6jFu',
  'key of etcd': 'planted-client-key-of-etcd-Xo5k',
} as const
type Planted = keyof typeof planted

const found = (where: string, text: string) => secretsIn(text, planted).map((what) => `${what} in ${where}`)

describe.skipIf(missing)('planted secrets', () => {
  let rig: RolloutRig
  let web: Server
  let address: string
  /** What the server was shown. */
  const shown = new Set<Planted>()
  const slipway = (...args: readonly string[]) => runSlipway(['--kubeconfig', rig.server.kubeconfigPath, ...args])
  const setPolicy = (spec: MaintenancePolicySpec) =>
    rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
  const keep = (name: string, values: Readonly<Record<string, string>>) => {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    return rig.api.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }, signal)
  }
  const isTold = (reason: string) =>
    vi.waitFor(async () => {
      const events = await kubectl(rig.server, ['get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}'])
      expect(events).toContain(reason)
    }, patience)
  const everyText = async (): Promise<ReadonlyMap<string, string>> => {
    const objects = await allObjects(await plainRequests(rig.server.kubeconfigPath))
    const texts = new Map<string, string>()
    for (const [place, object] of objects) if (!place.startsWith('secrets.')) texts.set(place, JSON.stringify(object))
    for (const {
      process: { name, log, pid },
      metricsUrl,
    } of rig.operators) {
      texts.set(`the log of ${name}`, log)
      texts.set(`the arguments of ${name}`, readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      texts.set(`the metrics of ${name}`, await (await fetch(metricsUrl)).text())
    }
    for (const { name, log, pid } of rig.agents) {
      texts.set(`the log of agents ${name}`, log)
      texts.set(`the arguments of agents ${name}`, readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    }
    for (const args of [
      ['snapshot'],
      ['status'],
      ['status', 'gated', '--output', 'json'],
      ['nodes', '--output', 'json'],
      ['why', 'gated'],
      ['why', 'image'],
      ['logs', 'w1'],
    ]) {
      const { out, err } = await slipway(...args)
      texts.set(`slipway ${args.join(' ')}`, out + err)
    }
    return texts
  }

  beforeAll(async () => {
    // Refuses whoever comes without the right word, and most of those with it: failures tell more than successes.
    web = createServer((request, answer) => {
      const { authorization = '' } = request.headers
      const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString('utf8')
      if (authorization.includes(planted['gate token'])) shown.add('gate token')
      if (authorization.includes(planted['Alertmanager token'])) shown.add('Alertmanager token')
      if (request.url?.includes(planted['address of a receiver'])) shown.add('address of a receiver')
      if (request.headers['slipway-signature'] !== undefined) shown.add('signing key')
      if (basic.includes(planted['registry password'])) shown.add('registry password')
      const isRegistry = request.url?.startsWith('/v2/') ?? false
      if (isRegistry) answer.setHeader('www-authenticate', 'Basic realm="here"')
      answer.statusCode = isRegistry && authorization !== '' ? 404 : 401
      answer.end(
        JSON.stringify({ errors: [{ code: 'UNAUTHORIZED', message: `you said ${authorization} to ${request.url}` }] }),
      )
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(web.address() as AddressInfo).port}`
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 1, agentProcesses: 1, work: '1s', version: 'v1.36.3' },
      operatorArguments: ['--log-level', 'debug'],
    })
    await keep('gate', { token: planted['gate token'] })
    await keep('pull', { username: 'puller', password: planted['registry password'] })
    await keep('store', { accessKeyID: 'AK', secretAccessKey: planted['store key'] })
    await keep('encryption', { key: planted['encryption key'] })
    await keep('alerts', { token: planted['Alertmanager token'] })
    await keep('chat', { url: `http://${address}/${planted['address of a receiver']}`, key: planted['signing key'] })
    await keep('etcd', { 'ca.crt': 'ca', 'tls.crt': 'certificate', 'tls.key': planted['key of etcd'] })
    await keep('motd', { text: planted['file of a profile'] })
  })

  afterAll(async () => {
    await rig?.stop()
    web?.closeAllConnections()
    web?.close()
  })

  test('a file of a profile reaches its host, and only that', async () => {
    const { apiVersion, kind } = nodeProfiles
    const spec = {
      files: [{ path: '/etc/motd', secret: { name: 'motd', key: 'text' } }],
      nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } },
    }
    await rig.api.create(nodeProfiles, { apiVersion, kind, metadata: { name: 'motd' }, spec }, signal)
    await vi.waitFor(
      async () => expect(await rig.files('w1').read('/etc/motd')).toBe(planted['file of a profile']),
      patience,
    )
  })

  test('the keys of a store are sealed to the host that makes the backup', async () => {
    const s3 = { bucket: 'backups', endpoint: `http://${address}`, secret: 'store' }
    await setPolicy({
      backupStores: [{ name: 'far', s3, encryption: { secret: 'encryption' } }],
      etcd: { endpoints: [`https://${address}`], secret: 'etcd' },
    })
    expect(await slipway('backup', 'create')).toMatchObject({ code: 0 })
    const { items } = await rig.api.list(nodeStates, {}, signal)
    expect(items.flatMap(({ spec }) => spec.backup ?? [])).toMatchObject([{ sealed: { secret: 'store' } }])
  })

  test('an Alertmanager is shown its token, and refuses', async () => {
    const bearerToken = { name: 'alerts', key: 'token' }
    const webhook = { urlSecret: { name: 'chat', key: 'url' }, signingSecret: { name: 'chat', key: 'key' } }
    await setPolicy({
      silences: [{ url: `http://${address}`, matchers: ['node="{node}"'], bearerToken }],
      notifications: [{ name: 'chat', webhook }],
    })
    await vi.waitFor(() => expect(shown).toContain('Alertmanager token'), patience)
    await isTold('SilenceFailed')
    // What happened before a receiver is known is not told.
    await vi.waitFor(async () => expect((await rig.policy()).status?.notifications).toHaveLength(1), patience)
  })

  test('a gate sends its token, and is told off with it', async () => {
    await rig.api.create(
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'work', namespace }, data: { script: 'true' } },
      signal,
    )
    const script = { configMap: 'work', sha256: 'b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b' }
    const bearerToken = { name: 'gate', key: 'token' }
    await rig.createUpdate('gated', {
      script,
      gates: [{ type: 'Http', url: `http://${address}/health`, bearerToken, every: '1s' }],
    })
    await vi.waitFor(() => expect(shown).toContain('gate token'), patience)
    await vi.waitFor(
      async () => expect((await rig.update('gated')).status?.gates).toMatchObject([{ state: 'Waiting' }]),
      patience,
    )
  })

  test('a receiver is told at its address, in signed words, and refuses', async () => {
    await vi.waitFor(() => expect(shown).toContain('address of a receiver'), patience)
    expect(shown).toContain('signing key')
    await isTold('NotificationFailed')
  })

  test('a registry is shown its password, and refuses', async () => {
    await setPolicy({ registries: [{ host: address, secret: 'pull', plain: true }] })
    await rig.createUpdate('image', { os: { image: `${address}/os:1` } })
    await vi.waitFor(() => expect(shown).toContain('registry password'), patience)
    await vi.waitFor(
      async () =>
        expect((await rig.update('image')).status?.conditions).toContainEqual(
          expect.objectContaining({ type: 'Planned', status: 'False' }),
        ),
      patience,
    )
  })

  test('none of them stands anywhere', async () => {
    const texts = await everyText()
    expect(texts.size).toBeGreaterThan(100)
    expect([...texts].flatMap(([where, text]) => found(where, text))).toEqual([])
    // The search would find them.
    expect(found('here', `Basic ${Buffer.from(`puller:${planted['registry password']}`).toString('base64')}`)).toEqual([
      'registry password in here',
    ])
    const kept = await kubectl(rig.server, ['get', 'secrets', '-n', namespace, '-o', 'json'])
    expect(found('here', kept)).toHaveLength(Object.keys(planted).length)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'secrets')
  })
})
