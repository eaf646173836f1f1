// `kubeadm upgrade` through whole orders, as the agent carries them out on a host in memory.

import { describe, expect, it } from 'vitest'
import { AgentBench, kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { components, manifest, pods, record } from '../../../../test/agent/pretend-static-pods.ts'
import type { Order } from '../../../api/node-state.ts'
import type { ActStep, Driver } from '../driver.ts'
import { kubeadmDriver } from './kubeadm-driver.ts'
import { upgradeRecord, upgradeRecordFile } from './upgrade-record.ts'

const stateDir = '/var/lib/slipway'
const manifests = '/etc/kubernetes/manifests'
const target = 'v1.36.3'
const minute = 60_000
const work: Order['work'] = { kubernetes: { version: target, components: ['kubeadm'] } }
const order = (id: string) => kubernetesOrder({ id, role: 'ControlPlane', offline: 'Allowed', timeout: '30m', work })

/** Its package and what it stages come from elsewhere. */
function controlPlaneDriver(): Driver {
  const checkImage: ActStep = { name: 'none', disruptive: false, attempts: 1, act: () => Promise.resolve() }
  const { stage: _, ...driver } = kubeadmDriver({ stagedTree: () => Promise.resolve(undefined), checkImage, stateDir })
  return { ...driver, steps: (asked) => driver.steps(asked).filter(({ name }) => name === 'upgrade-control-plane') }
}

/** Static pods and the cluster's record are as told; kubeadm takes a minute. */
async function controlPlaneAt(version: string): Promise<AgentBench> {
  const bench = new AgentBench()
  bench.drivers = [controlPlaneDriver()]
  for (const component of components) await putManifest(bench, component, version)
  await bench.disk.makeFolder(stateDir)
  for (const folder of ['/', '/pretend', '/var', '/var/lib']) await bench.disk.syncFolder(folder)
  says(bench, version)
  bench.host.behave = () => ({ ms: minute, exitCode: 0 })
  return bench
}

function putManifest({ host }: AgentBench, component: string, version: string): Promise<void> {
  const attributes = { mode: 0o600, owner: 'root', group: 'root' }
  return host.files.write(`${manifests}/${component}.yaml`, manifest(component, version), attributes)
}

function says({ host }: AgentBench, version: string): void {
  const answers: Readonly<Record<string, string>> = {
    'kubeadm-config': record(version),
    '/api/v1/nodes?': JSON.stringify({ items: [] }),
    '/pods?': pods(version),
    '/version': JSON.stringify({ gitVersion: version }),
  }
  host.answer = ({ argv }) => {
    const words = argv.join(' ')
    const found = Object.entries(answers).find(([part]) => words.includes(part))
    return { exitCode: 0, stdout: found?.[1] ?? '', stderr: '' }
  }
}

const applied = ({ host }: AgentBench) => host.executions.filter(({ argv }) => argv.includes('kubeadm-apply'))

describe('an apply that failed after the cluster’s record had changed', () => {
  it('is repeated by the order that tries again', async () => {
    const bench = await controlPlaneAt('v1.35.4')
    bench.host.behave = () => ({ ms: minute, exitCode: 1, effect: () => says(bench, target) })
    bench.cluster.place(order('op/1'))
    bench.start()
    await bench.clock.until(bench.hasEnded('Failed'))
    const before = applied(bench).length

    bench.host.behave = () => ({ ms: minute, exitCode: 0 })
    for (const component of components) await putManifest(bench, component, target)
    bench.cluster.place(order('op/2'))
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(applied(bench)).toHaveLength(before + 1)

    bench.cluster.place(order('op/3'))
    await bench.clock.until(() => bench.order?.id === 'op/3' && bench.order.state === 'Succeeded')
    expect(applied(bench)).toHaveLength(before + 1)
  })

  it('is repeated to its end wherever the power is lost', async () => {
    const begun = async () => {
      const bench = await controlPlaneAt(target)
      await upgradeRecord(stateDir).begin(bench.disk, {
        version: target,
        mode: 'apply',
        nodeUID: 'node-uid',
        backups: [],
      })
      bench.cluster.place(order('op/2'))
      return bench
    }
    const whole = await begun()
    const before = whole.disk.operations
    whole.start()
    await whole.clock.until(whole.hasEnded('Succeeded'))
    const total = whole.disk.operations - before
    expect(total).toBeGreaterThan(20)
    for (let cut = 0; cut <= total; cut++) {
      const bench = await begun()
      await bench.startAndDieAfter(cut, bench.hasEnded('Succeeded'))
      bench.host.losePower(() => bench.random.next())
      bench.clock.loseTimers(30_000)
      bench.restart()
      await bench.clock.until(bench.hasEnded('Succeeded'))
      expect(
        applied(bench).some(({ ended }) => ended),
        `power lost after ${cut} operations`,
      ).toBe(true)
      expect(bench.disk.files.has(`${stateDir}/${upgradeRecordFile}`)).toBe(false)
    }
  })
})

describe('a manifest that is lost in the middle of kubeadm’s work', () => {
  const lost = `${manifests}/kube-apiserver.yaml`
  const backup = '/etc/kubernetes/tmp/kubeadm-backup-manifests-2026-01-01-00-00-00/kube-apiserver.yaml'

  /** kubeadm has moved it away, and does not come to putting the new one there. */
  async function midway(): Promise<AgentBench> {
    const bench = await controlPlaneAt('v1.35.4')
    bench.host.behave = () => ({ ms: 120 * minute, exitCode: 0 })
    bench.cluster.place(order('op/1'))
    bench.start()
    await bench.clock.until(() => applied(bench).length === 1)
    await bench.host.files.rename(lost, backup)
    return bench
  }

  function losePower(bench: AgentBench, ms: number): void {
    bench.kill()
    bench.host.losePower(() => bench.random.next())
    bench.clock.loseTimers(ms)
    bench.disk.budget = Number.POSITIVE_INFINITY
  }

  it.each<[string, 'Failed' | 'Withdrawn', string, (bench: AgentBench) => void]>([
    [
      'fails because the power was away for longer than its time',
      'Failed',
      'OrderTimedOut',
      (bench) => {
        losePower(bench, 60 * minute)
        bench.start()
      },
    ],
    [
      'was withdrawn while the power was away for a moment',
      'Withdrawn',
      'OrderWithdrawn',
      (bench) => {
        losePower(bench, minute)
        bench.cluster.place(undefined)
        bench.start()
      },
    ],
    ['fails because kubeadm was killed at its time limit', 'Failed', 'StepTimedOut', () => undefined],
  ])('is back before an order ends that %s', async (_, state, code, happens) => {
    const bench = await midway()
    happens(bench)
    await bench.clock.until(bench.hasEnded(state))
    expect(bench.order).toMatchObject({
      reason: { code },
      warnings: expect.arrayContaining([expect.stringMatching(/kube-apiserver.yaml was lost .* put back/)]),
    })
    expect(applied(bench)).toHaveLength(1)
    expect(await bench.host.files.read(lost)).toBe(manifest('kube-apiserver', 'v1.35.4'))
  })

  it('is not put back while kubeadm runs, and the order stays open until then', async () => {
    const bench = await midway()
    losePower(bench, 60 * minute)
    const attributes = { mode: 0o444, owner: 'root', group: 'root' }
    await bench.host.files.write('/proc/77/cmdline', '/usr/bin/kubeadm\0upgrade\0apply\0', attributes)
    bench.start()
    await bench.clock.until(() => bench.order?.reason?.message.includes('kubeadm runs on this host') === true)
    expect(bench.order?.finishedAt).toBeUndefined()
    expect(await bench.host.files.read(lost)).toBeUndefined()
    await bench.host.files.remove('/proc/77/cmdline')
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(await bench.host.files.read(lost)).toBe(manifest('kube-apiserver', 'v1.35.4'))
  })

  it('keeps no order open whose way back cannot be looked at', async () => {
    const bench = await controlPlaneAt('v1.35.4')
    const failing = { disruptive: false, attempts: 1, act: () => Promise.reject(new Error('it fails on purpose')) }
    const blind = () => Promise.reject(new Error('nothing can be seen'))
    const kubelet: Driver = {
      ...{ name: 'kubelet', concerns: () => true, inspect: () => Promise.resolve({}) },
      steps: () => [{ ...failing, name: 'upgrade-kubelet' }],
      undo: { possible: true, steps: () => [{ ...failing, name: 'undo-kubelet', holds: blind }] },
    }
    bench.drivers = [...bench.drivers, kubelet]
    bench.host.behave = () => {
      for (const component of components) void putManifest(bench, component, target)
      says(bench, target)
      return { ms: minute, exitCode: 0 }
    }
    bench.cluster.place({ ...order('op/1'), rollback: 'All' })
    bench.start()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.steps.map(({ name, state }) => [name, state])).toEqual([
      ['upgrade-control-plane', 'Succeeded'],
      ['upgrade-kubelet', 'Failed'],
      ['undo-kubelet', 'Failed'],
    ])
  })
})
