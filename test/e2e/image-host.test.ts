// Hosts whose system is an image run the agent from the bundle for hosts without a container: it outlives the images. The operator is
// the built program, and asked as a person would.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { realClient } from '../apiserver/real-client.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { freePorts } from '../bed/child-program.ts'
import type { Machine } from '../bed/machine.ts'
import { bootImageMachine } from '../bed/osimage/image-machine.ts'
import { makeOsImage, type OsImageOptions } from '../bed/osimage/os-image.ts'
import { type Registry, startRegistry } from '../bed/osimage/registry.ts'
import { kubernetesVersion } from '../bed/versions.ts'
import { toolFiles } from '../conformance/image-case.ts'
import { accountAccess, installSlipway, namespace } from '../rollout-rig/installation.ts'
import { SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { agentService, installHostBundle } from './host-bundle.ts'
import { kubeletConfig } from './kubelet-config.ts'
import { standInForKubelet } from './kubelet-stand-in.ts'

/** `make image` has built it before the first test. */
const builtProgram = fileURLToPath(new URL('../../dist/slipway.mjs', import.meta.url))
const engines = [
  { engine: 'bootc', minor: 7 },
  { engine: 'rpm-ostree', minor: 8 },
] as const
const { signal } = new AbortController()
const reporting = new AbortController()
const within = { timeout: 240_000, interval: 250 }
let bed: Bed
let registry: Registry
let server: ApiServer
let api: HttpKubeApi
let operator: SlipwayProcess

beforeAll(async () => {
  bed = await openBed()
  registry = await startRegistry(bed)
  server = await startApiServer({ controllers: false, apiArguments: ['--bind-address=0.0.0.0'] })
  api = (await realClient(server.kubeconfigPath)).api
  await installSlipway(server, '--host-service')
  const { kubeconfig } = await accountAccess(server, 'slipway-operator', 'operator.conf')
  const [port = 0] = await freePorts(1)
  const args = ['operator', '--kubeconfig', kubeconfig, '--namespace', namespace]
  operator = new SlipwayProcess(
    'operator',
    [...args, '--metrics-address', `127.0.0.1:${port}`],
    join(server.dir, 'operator.log'),
    builtProgram,
  )
  operator.start()
  const registries = [{ host: registry.address, plain: true }]
  const asked = { type: 'merge', body: { spec: { registries } } } as const
  await vi.waitFor(() => api.patch(maintenancePolicies, { name: policyName }, asked, signal), within)
})

afterAll(async () => {
  reporting.abort()
  await operator?.stop()
  await api?.close()
  await server?.stop()
  await registry?.stop()
  await bed?.close()
  expect(bed.leftovers()).toEqual([])
})

/** What a person would look at when it does not go on. */
async function story(machine: Machine): Promise<string> {
  const state = await api.get(nodeStates, { name: machine.name }, signal)
  const journal = await machine.exec(['journalctl', '--no-pager', '-n', '40', '-u', agentService])
  return [JSON.stringify(state.status), journal.stdout, operator.log.slice(-3_000)].join('\n')
}

async function ended(name: string, machine: Machine): Promise<DirectUpdate> {
  const read = () => api.get(directUpdates, { name }, signal)
  const hasEnded = async () => ['Succeeded', 'Failed', 'RequiresAttention'].includes((await read()).status?.phase ?? '')
  try {
    await expect.poll(hasEnded, within).toBe(true)
  } catch (cause) {
    const { status } = await read()
    throw new Error(`${name}: ${JSON.stringify(status)}\n${await story(machine)}`, { cause })
  }
  return await read()
}

/** Asked for on this host alone. */
async function update(name: string, image: string, machine: Machine): Promise<DirectUpdate> {
  const { apiVersion, kind } = directUpdates
  const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': machine.name } }
  const spec = { os: { image }, rollback: 'Image' as const, nodeSelector }
  await api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, signal)
  return await ended(name, machine)
}

describe.each(engines)('an image host with $engine', ({ engine, minor }) => {
  let machine: Machine
  const image = (major: number, options: Omit<OsImageOptions, 'version'> = {}) =>
    makeOsImage(registry, {
      version: `${major}.${minor}`,
      kubernetes: kubernetesVersion.replace('v', ''),
      ...options,
      files: toolFiles(engine),
    })
  const version = async () => (await machine.readFile('/usr/share/bed/version')).trim()
  const isActive = async () => (await machine.exec(['systemctl', 'is-active', agentService])).stdout
  const node = () => api.get(nodes, { name: machine.name }, signal)
  const state = () => api.get(nodeStates, { name: machine.name }, signal)

  beforeAll(async () => {
    machine = await bootImageMachine(bed, registry, { image: await image(3) })
    await machine.writeFile('/etc/kubernetes/kubelet.conf', kubeletConfig(bed, server, machine.name), 0o600)
    await standInForKubelet(api, machine, reporting.signal)
  })

  test('the bundle is installed, and reports with the credentials of the kubelet', { timeout: 300_000 }, async () => {
    expect(await installHostBundle(machine)).toContain(`installed Slipway ${packageJson.version}`)
    await expect.poll(async () => (await state()).status?.agent?.version, within).toBe(packageJson.version)
  })

  test('an update boots the host into another image, and is done when the host is back', {
    timeout: 300_000,
  }, async () => {
    const before = await machine.bootId()
    const { reference, digest } = await image(4)
    const { status } = await update(`${engine}-4`, reference, machine)
    if (status?.phase !== 'Succeeded') expect.fail(await story(machine))
    expect(status.osImage).toMatchObject({ digest })
    expect(await version()).toBe(`4.${minor}`)
    const bootID = await machine.bootId()
    expect(bootID).not.toBe(before)
    expect(await node()).toMatchObject({ spec: {}, status: { nodeInfo: { bootID, osImage: `BedOS 4.${minor}` } } })
    expect((await node()).spec.unschedulable).toBeUndefined()
    expect(await isActive()).toBe('active\n')
  })

  test('an image whose kubelet fails is taken back; the host stays cordoned until a person has looked', {
    timeout: 300_000,
  }, async () => {
    const name = `${engine}-5`
    const { pinned } = await image(5, { broken: true })
    expect((await update(name, pinned, machine)).status?.phase).toBe('Failed')
    const { status } = await state()
    expect(status?.agent?.order).toMatchObject({
      state: 'Failed',
      rolledBack: true,
      reason: { code: 'ImageUnhealthy' },
    })
    expect(await version()).toBe(`4.${minor}`)
    expect(await isActive()).toBe('active\n')
    expect((await node()).spec.unschedulable).toBe(true)
    await api.delete(directUpdates, { name }, {}, signal)
    await expect.poll(async () => (await node()).spec.unschedulable, within).toBeUndefined()
    const isGone = () =>
      api.get(directUpdates, { name }, signal).then(
        () => false,
        (error: unknown) => isKubeError(error, 'NotFound'),
      )
    await expect.poll(isGone, within).toBe(true)
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
})
