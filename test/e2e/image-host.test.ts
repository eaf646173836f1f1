// A host whose system is an image runs the agent from the bundle for hosts without a container: it outlives the images.

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { nodes } from '../../src/api/kube.ts'
import { type AgentOrder, type AgentStatus, nodeStates } from '../../src/api/node-state.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { scriptOrder } from '../agent/agent-bench.ts'
import { realClient } from '../apiserver/real-client.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { makePair } from '../bed/certificates.ts'
import type { Machine } from '../bed/machine.ts'
import { bootImageMachine } from '../bed/osimage/image-machine.ts'
import { makeOsImage, type OsImageOptions } from '../bed/osimage/os-image.ts'
import { type Registry, startRegistry } from '../bed/osimage/registry.ts'
import { toolFiles } from '../conformance/image-case.ts'
import { installSlipway } from '../rollout-rig/installation.ts'
import { agentService, installHostBundle } from './host-bundle.ts'

const engine = 'bootc'
const { signal } = new AbortController()
let bed: Bed
let registry: Registry
let server: ApiServer
let api: HttpKubeApi
let machine: Machine
let nodeUID: string

const image = (version: string, options: Omit<OsImageOptions, 'version'> = {}) =>
  makeOsImage(registry, { version, ...options, files: toolFiles(engine) })

beforeAll(async () => {
  bed = await openBed()
  registry = await startRegistry(bed)
  server = await startApiServer({ controllers: false, apiArguments: ['--bind-address=0.0.0.0'] })
  api = (await realClient(server.kubeconfigPath)).api
  await installSlipway(server, '--host-service')
  machine = await bootImageMachine(bed, registry, { image: await image('3.7') })
  await machine.writeFile('/etc/kubernetes/kubelet.conf', kubeletConfig(), 0o600)
  const { name } = machine
  nodeUID =
    (await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} }, signal)).metadata.uid ??
    ''
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUID }]
  const { apiVersion, kind } = nodeStates
  await api.create(nodeStates, { apiVersion, kind, metadata: { name, ownerReferences }, spec: {} }, signal)
})

afterAll(async () => {
  await api?.close()
  await server?.stop()
  await registry?.stop()
  await bed?.close()
  expect(bed.leftovers()).toEqual([])
})

/** As kubeadm writes it, with the host's own certificate. */
function kubeletConfig(): string {
  const { certificate, key } = makePair(server.authority, {
    name: `system:node:${machine.name}`,
    group: 'system:nodes',
  })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const cluster = {
    server: `https://${bed.address}:${new URL(server.url).port}`,
    'certificate-authority-data': base64(server.authority.certificate),
    'tls-server-name': 'kubernetes',
  }
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster }],
    users: [{ name: 'kubelet', user }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'kubelet' } }],
    'current-context': 'bed',
  })
}

async function agentUntil<T>(told: (agent: AgentStatus) => T | undefined): Promise<T> {
  const endMs = performance.now() + 240_000
  for (;;) {
    const { status } = await api.get(nodeStates, { name: machine.name }, signal)
    const found = status?.agent && told(status.agent)
    if (found !== undefined) return found
    if (performance.now() > endMs) {
      const journal = await machine.exec(['journalctl', '--no-pager', '-n', '40', '-u', agentService])
      throw new Error(`the agent says ${JSON.stringify(status?.agent)}\n${journal.stdout}`)
    }
    await delay(250)
  }
}

/** The test plays the operator. */
async function carryOut(id: string, reference: string): Promise<AgentOrder> {
  const order = scriptOrder({ id, nodeUID, work: { os: { image: reference } }, rollback: 'Image', timeout: '10m' })
  await api.patch(nodeStates, { name: machine.name }, { type: 'merge', body: { spec: { order } } }, signal)
  return await agentUntil(({ order: its }) =>
    its?.id === id && ['Succeeded', 'Failed', 'Refused', 'Withdrawn'].includes(its.state) ? its : undefined,
  )
}

const version = async () => (await machine.readFile('/usr/share/bed/version')).trim()
const isActive = async () => (await machine.exec(['systemctl', 'is-active', agentService])).stdout

test('the bundle is installed, and reports with the credentials of the kubelet', { timeout: 300_000 }, async () => {
  expect(await installHostBundle(machine)).toContain(`installed Slipway ${packageJson.version}`)
  expect(await agentUntil((agent) => agent.version)).toBe(packageJson.version)
})

test('it boots the host into another image, and is there again', { timeout: 300_000 }, async () => {
  const before = await machine.bootId()
  expect(await carryOut('image-1', (await image('4.7')).reference)).toMatchObject({ state: 'Succeeded' })
  expect(await version()).toBe('4.7')
  expect(await machine.bootId()).not.toBe(before)
  expect(await isActive()).toBe('active\n')
})

test('it takes an image back whose kubelet fails', { timeout: 300_000 }, async () => {
  const order = await carryOut('image-2', (await image('5.7', { broken: true })).pinned)
  expect(order).toMatchObject({ state: 'Failed', rolledBack: true, reason: { code: 'ImageUnhealthy' } })
  expect(await version()).toBe('4.7')
  expect(await isActive()).toBe('active\n')
})

test('installed again it is brought up to date; removed it leaves its journal alone', {
  timeout: 300_000,
}, async () => {
  await installHostBundle(machine, '--node-name', machine.name)
  const unit = await machine.readFile(`/etc/systemd/system/${agentService}`)
  expect(unit).toContain(`--node-name=${machine.name} `)
  expect(await isActive()).toBe('active\n')
  expect(await installHostBundle(machine, '--remove')).toContain('removed')
  expect(await isActive()).not.toBe('active\n')
  const left = await machine.run(['find', '/opt/', '/etc/systemd/system', '-name', 'slipway*'])
  expect(left).toBe('')
  expect(await machine.run(['ls', '/var/lib/slipway'])).toContain('orders')
})
