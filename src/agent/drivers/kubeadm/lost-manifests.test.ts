import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { components, manifest, record } from '../../../../test/agent/pretend-static-pods.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { lostManifests } from './lost-manifests.ts'
import { upgradeRecord } from './upgrade-record.ts'
import { upgradeControlPlane } from './upgrade-step.ts'

const stateDir = '/var/lib/slipway'
const { nodeUID } = kubernetesOrder()
const upgrades = upgradeRecord(stateDir)
const restoreManifests = lostManifests(upgrades, stateDir)
const pathOf = (component: string) => `/etc/kubernetes/manifests/${component}.yaml`
const backup = (time: string) => `kubeadm-backup-manifests-${time}`
const backupOf = (time: string, component: string) => `/etc/kubernetes/tmp/${backup(time)}/${component}.yaml`

/** kubeadm was begun, and has moved all away. `before`: backups of earlier upgrades. */
async function begun(...before: readonly string[]): Promise<StepBench> {
  return await begunBefore({ role: 'ControlPlane' }, ...before)
}

/** `next`: the order that comes now. */
async function begunBefore(next: Partial<Order>, ...before: readonly string[]): Promise<StepBench> {
  const made = new StepBench(kubernetesOrder(next))
  await made.host.disk.makeFolder(stateDir)
  await upgrades.begin(made.host.disk, { version: 'v1.36.3', mode: 'apply', nodeUID, backups: before.map(backup) })
  for (const component of components) await made.put(backupOf('2026-01-01', component), manifest(component, 'v1.35.4'))
  return made
}

const read = ({ host }: StepBench, component: string) => host.files.read(pathOf(component))

describe('what is put back', () => {
  it('is all that is missing, and no manifest that is there', async () => {
    const made = await begun()
    await made.put(pathOf('etcd'), manifest('etcd', 'v1.36.3'))
    await made.put(pathOf('kube-scheduler'), manifest('kube-scheduler', 'v1.36.3'))
    await restoreManifests(made.context)
    expect(await read(made, 'kube-apiserver')).toBe(manifest('kube-apiserver', 'v1.35.4'))
    expect(await read(made, 'kube-controller-manager')).toBe(manifest('kube-controller-manager', 'v1.35.4'))
    expect(await read(made, 'kube-scheduler')).toBe(manifest('kube-scheduler', 'v1.36.3'))
    expect(await read(made, 'etcd')).toBe(manifest('etcd', 'v1.36.3'))
    expect(made.warnings).toHaveLength(2)
  })

  it.each([
    ['empty', ''],
    ['cut', 'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - comm'],
  ])('is what is %s, which is kept beside', async (_, broken) => {
    const made = await begun()
    await made.put(pathOf('etcd'), broken)
    await restoreManifests(made.context)
    expect(await read(made, 'etcd')).toBe(manifest('etcd', 'v1.35.4'))
    expect(await made.host.files.read(`${backupOf('2026-01-01', 'etcd')}.broken`)).toBe(broken)
  })

  it('comes from the newest backup that holds it whole', async () => {
    const made = await begun()
    await made.put(backupOf('2026-01-02', 'kube-apiserver'), manifest('kube-apiserver', 'v1.36.3'))
    await made.put(backupOf('2026-01-02', 'etcd'), '')
    await restoreManifests(made.context)
    expect(await read(made, 'kube-apiserver')).toBe(manifest('kube-apiserver', 'v1.36.3'))
    expect(await read(made, 'etcd')).toBe(manifest('etcd', 'v1.35.4'))
  })
})

describe('nothing is put back', () => {
  it('of upgrades before one that an earlier agent noted in the order', async () => {
    const made = new StepBench(kubernetesOrder({ role: 'ControlPlane' }))
    await made.context.notes.write('kubeadm-upgrade', { mode: 'apply' })
    // etcd is a service of its own by now.
    for (const component of components)
      await made.put(backupOf('2025-01-01', component), manifest(component, 'v1.34.4'))
    await made.put(backupOf('2026-01-01', 'kube-apiserver'), manifest('kube-apiserver', 'v1.35.4'))
    await restoreManifests(made.context)
    expect(await read(made, 'kube-apiserver')).toBe(manifest('kube-apiserver', 'v1.35.4'))
    expect(await read(made, 'etcd')).toBeUndefined()
  })

  it('of what kubeadm moved away for an upgrade before', async () => {
    const made = await begun('2026-01-01')
    await restoreManifests(made.context)
    expect(await read(made, 'kube-apiserver')).toBeUndefined()
  })

  it('where no upgrade was begun, or it ended well', async () => {
    const made = await begun()
    await upgrades.end(made.host.disk)
    await restoreManifests(made.context)
    expect(await read(made, 'kube-apiserver')).toBeUndefined()
  })

  it.each<[string, Partial<Order>]>([
    ['a worker by now', { role: 'Worker' }],
    ['another node by now', { role: 'ControlPlane', nodeUID: 'another' }],
  ])('on a host that is %s', async (_, next) => {
    const made = await begunBefore(next)
    await restoreManifests(made.context)
    for (const component of components) expect(await read(made, component)).toBeUndefined()
  })

  it.each([
    ['kubeadm runs', '/proc/77/cmdline', '/opt/bin/kubeadm\0upgrade\0node\0', true],
    ['other programs run', '/proc/77/cmdline', 'vi\0kubeadm\0', false],
    ['kubeadm has ended and is still listed', '/proc/77/cmdline', '', false],
  ])('while %s: %s', async (_, path, text, isRefused) => {
    const made = await begun()
    await made.put(path, text)
    const restored = restoreManifests(made.context)
    if (isRefused) await expect(restored).rejects.toMatchObject({ code: 'StepFailed', nextStep: expect.any(String) })
    else await restored
    expect((await read(made, 'etcd')) === undefined).toBe(isRefused)
  })

  it('while a restore of etcd keeps them away', async () => {
    const made = await begun()
    await made.host.disk.makeFolder(`${stateDir}/restore`)
    await made.host.disk.write(`${stateDir}/restore/record.json`, '{}')
    await expect(restoreManifests(made.context)).rejects.toThrow('a restore of etcd has not ended')
    expect(await read(made, 'etcd')).toBeUndefined()
  })
})

describe('an order that tries again', () => {
  const step = upgradeControlPlane({
    kubeadm: () => Promise.resolve('kubeadm'),
    record: upgrades,
    restoreManifests,
  })

  it('puts them back before it asks the API, which may be away for want of them', async () => {
    const made = await begun()
    const asked: number[] = []
    made.answers({
      'kubeadm-config': () => {
        asked.push(made.warnings.filter((text) => text.includes('kube-apiserver.yaml')).length)
        return record('v1.35.4')
      },
      '/api/v1/nodes?': JSON.stringify({ items: [] }),
    })
    await step.argv(made.context, made.signal)
    expect(asked).toEqual([1])
    expect(await read(made, 'kube-apiserver')).toBe(manifest('kube-apiserver', 'v1.35.4'))
  })

  it('takes all backups for its own that were made since the first begin', async () => {
    const made = await begun('2025-01-01')
    made.answers({ 'kubeadm-config': record('v1.35.4'), '/api/v1/nodes?': JSON.stringify({ items: [] }) })
    await step.argv(made.context, made.signal)
    expect(await upgrades.find(made.context)).toMatchObject({ backups: [backup('2025-01-01')] })
    await upgrades.end(made.host.disk)
    await step.argv(made.context, made.signal)
    expect(await upgrades.find(made.context)).toMatchObject({ backups: [backup('2026-01-01')] })
  })
})
