// The keys of a bucket on their way: from a Secret, sealed by the operator to a booted host, opened there by the agent of the bundle, which
// stores a backup of etcd with them. Nobody else reads them.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { secrets } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { allObjects } from '../apiserver/every-request.ts'
import { plainRequests } from '../apiserver/plain-request.ts'
import { realClient } from '../apiserver/real-client.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { makePair } from '../bed/certificates.ts'
import { freePorts } from '../bed/child-program.ts'
import type { Machine } from '../bed/machine.ts'
import { fromMoto, startMoto } from '../bed/moto.ts'
import type { S3Server } from '../bed/s3-server.ts'
import { secretsIn } from '../bed/secret-forms.ts'
import { startTlsFront, type TlsFront } from '../bed/tls-front.ts'
import { untilTrue } from '../bed/until-true.ts'
import { kubernetesVersion } from '../bed/versions.ts'
import { createNode } from '../rollout-rig/cluster-objects.ts'
import { accountAccess, installSlipway, namespace } from '../rollout-rig/installation.ts'
import { runSlipway, SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { agentService, installHostBundle } from './host-bundle.ts'
import { kubeletConfig } from './kubelet-config.ts'
import { SecretWatch } from './secret-watch.ts'

const { signal } = new AbortController()
const bucket = 'cluster-backups'
const note = '/var/lib/slipway/backup-store.json'
const planted = {
  'access key': 'planted-access-key-Hd83',
  'secret key': 'planted-secret-key-wQ6z',
  'encryption key': 'planted-passphrase-for-backups-Qm7s',
}
let bed: Bed
let store: S3Server
let front: TlsFront
let server: ApiServer
let api: HttpKubeApi
let operator: SlipwayProcess
let machine: Machine
let watch: SecretWatch

const keep = async (name: string, values: Readonly<Record<string, string>>) => {
  const encoded = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  const data = Object.fromEntries(encoded)
  await api.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }, signal)
}

beforeAll(async () => {
  bed = await openBed()
  server = await startApiServer({ controllers: false, apiArguments: ['--bind-address=0.0.0.0'] })
  bed.atClose(() => server.stop())
  store = await startMoto()
  bed.atClose(() => store.stop())
  await fetch(`${store.endpoint}/${bucket}`, { method: 'PUT' })
  const pair = makePair(server.authority, { name: 'front', ips: [bed.address] })
  front = await startTlsFront(store.endpoint, pair, bed.address)
  const etcd = await startTlsFront(server.etcdUrl, pair, bed.address)
  bed.atClose(async () => {
    front.stop()
    etcd.stop()
  })
  api = (await realClient(server.kubeconfigPath)).api
  bed.atClose(() => api.close())
  await installSlipway(server, '--host-service')
  machine = await bed.machine()
  const { name } = machine
  await createNode(api, { name, controlPlane: true, group: '', version: kubernetesVersion, foreign: true }, signal)
  await keep('backup-s3', { accessKeyID: planted['access key'], secretAccessKey: planted['secret key'] })
  await keep('backup-key', { key: planted['encryption key'] })
  const { certificate, key } = makePair(server.authority, { name: 'etcd-client' })
  const ca = server.authority.certificate
  await keep('etcd-client', { 'ca.crt': ca, 'tls.crt': certificate, 'tls.key': key })
  const s3 = { bucket, prefix: 'prod', endpoint: front.url, ca, secret: 'backup-s3' }
  const spec = {
    backupStores: [{ name: 'far', s3, encryption: { secret: 'backup-key' } }],
    etcd: { endpoints: [etcd.url], secret: 'etcd-client' },
  }
  const { apiVersion, kind } = maintenancePolicies
  await api.create(maintenancePolicies, { apiVersion, kind, metadata: { name: policyName }, spec }, signal)
  const access = await accountAccess(server, 'slipway-operator', 'operator.conf')
  const [port = 0] = await freePorts(1)
  const args = ['operator', '--kubeconfig', access.kubeconfig, '--identity', 'operator', '--namespace', namespace]
  const own = ['--metrics-address', `127.0.0.1:${port}`, '--log-level', 'debug']
  operator = new SlipwayProcess('operator', [...args, ...own], join(server.dir, 'operator.log'))
  operator.start()
  bed.atClose(() => operator.stop())
  await machine.writeFile('/etc/kubernetes/kubelet.conf', kubeletConfig(bed, server, name), 0o600)
  watch = new SecretWatch([machine], planted)
  await installHostBundle(machine)
  const hasKey = async () => (await api.get(nodeStates, { name }, signal)).status?.agent?.publicKey !== undefined
  await untilTrue('the agent has published its key', hasKey, 120_000)
})

afterAll(async () => {
  await watch?.stop()
  await bed?.close()
  expect(bed.leftovers()).toEqual([])
})

test('the agent opens what was sealed to its host, and stores the backup', { timeout: 300_000 }, async () => {
  const create = ['--kubeconfig', server.kubeconfigPath, 'backup', 'create', '--output', 'json']
  const { code, out, err } = await runSlipway(create)
  if (code !== 0) {
    const journal = await machine.exec(['journalctl', '--no-pager', '-n', '30', '-u', agentService])
    expect.fail(`${err}\n${journal.stdout}\n${operator.log.slice(-4_000)}`)
  }
  const made = z.object({ name: z.string(), location: z.string(), sha256: z.string() }).parse(JSON.parse(out))
  expect(made.location).toBe(`s3://${bucket}/prod/${made.name}`)
  const found = await fromMoto(store, `${bucket}/prod/${made.name}`)
  const content = Buffer.from(await found.arrayBuffer())
  expect(createHash('sha256').update(content).digest('hex')).toBe(made.sha256)
  expect(content.toString('latin1', 0, 21)).toBe('age-encryption.org/v1')
  const manifest = await fromMoto(store, `${bucket}/prod/${made.name}.json`)
  expect(await manifest.json()).toMatchObject({ sha256: made.sha256, encryption: 'Age', node: machine.name })
  expect(front.shown.size).toBeGreaterThan(0)
  expect([...front.shown].filter((words) => !words.includes(`Credential=${planted['access key']}/`))).toEqual([])
})

test('the keys stand in no object, log or argument', async () => {
  expect(await watch.stop()).toEqual([])
  expect(watch.texts.get(`arguments on ${machine.name}`)).toContain('slipway.mjs agent')
  const journal = await machine.run(['journalctl', '--no-pager', '-o', 'cat'])
  expect(journal).toContain('"component":"agent"')
  expect(operator.log).toContain('"component":"operator"')
  const objects = [...(await allObjects(await plainRequests(server.kubeconfigPath)))]
  const isSecret = ([place]: readonly [string, object]) => place.startsWith('secrets.')
  const others = objects.filter((each) => !isSecret(each))
  for (const kind of ['nodestates', 'events']) {
    expect(
      others.some(([place]) => place.startsWith(`${kind}.`)),
      kind,
    ).toBe(true)
  }
  const texts = [
    ['the journal of the host', journal] as const,
    ['the log of the operator', operator.log] as const,
    ['the arguments of the operator', readFileSync(`/proc/${operator.pid}/cmdline`, 'utf8')] as const,
    ...others.map(([place, object]) => [place, JSON.stringify(object)] as const),
  ]
  expect(texts.flatMap(([place, text]) => secretsIn(text, planted).map((what) => `${what} in ${place}`))).toEqual([])
  // The search would find them: in the Secrets, and in the note that only root may read.
  expect(secretsIn(JSON.stringify(objects.filter(isSecret)), planted)).toHaveLength(3)
  expect(secretsIn(await machine.readFile(note), planted)).toHaveLength(3)
  expect(await machine.run(['stat', '-c', '%a %U', note])).toBe('600 root\n')
})
