// Maintenance by a script of the host that follows the contract of sentinel files step by step, and reboots by sentinel.

import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import type { Machine } from '../bed/machine.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

const required = '/var/maintenance-required'
const inProgress = '/var/maintenance-in-progress'
const rebootRequired = '/var/run/reboot-required'

/** As the contract has it: wait for a pending reboot, wait for others, ask, wait for permission, work, and say so only when it went well. */
const script = `#!/bin/sh
while [ -e ${rebootRequired} ]; do sleep 1; done
until [ ! -e ${required} ] && [ ! -e ${inProgress} ]; do sleep 1; done
touch ${required}
until [ -e ${inProgress} ]; do sleep 1; done
echo working >> /var/maintenance.log
sleep 3
[ -e /var/maintenance-works ] || exit 1
rm -f ${required}
`

interface KubeNode {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly unschedulable?: boolean }
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] }
}

export function sentinelStory(stage: () => SlipwayInCluster): void {
  const nodesOf = async (slipway: SlipwayInCluster) =>
    (JSON.parse(await slipway.cluster.kubectl(['get', 'nodes', '-o', 'json'])) as { items: KubeNode[] }).items
  const nodeOf = async (slipway: SlipwayInCluster, { name }: Machine) =>
    (await nodesOf(slipway)).find(({ metadata }) => metadata.name === name)
  const annotationsOf = async (slipway: SlipwayInCluster, machine: Machine) =>
    (await nodeOf(slipway, machine))?.metadata.annotations
  const exists = async (machine: Machine, path: string) => (await machine.exec(['test', '-e', path])).code === 0
  const isCordoned = async (slipway: SlipwayInCluster, machine: Machine) =>
    (await nodeOf(slipway, machine))?.spec.unschedulable === true

  test('a script whose maintenance fails keeps its node cordoned and its slot', { timeout: 240_000 }, async () => {
    const slipway = stage()
    const [, worker] = slipway.cluster.nodes
    if (!worker) throw new Error('a cluster with workers was asked for')
    await setPolicy(slipway, { maintenance: { required, inProgress }, reboots: { sentinels: [rebootRequired] } })
    await startScript(worker)
    await slipway.until('the script was let work', 120_000, () => exists(worker, inProgress))
    expect(await isCordoned(slipway, worker)).toBe(true)
    await expect.poll(() => annotationsOf(slipway, worker)).toHaveProperty(['k8s.io/maintenance-in-progress'])
    await wait(10_000)
    expect(await isCordoned(slipway, worker)).toBe(true)
    const policy = await slipway.get(maintenancePolicies, 'default')
    expect(policy.status?.ledger?.grants.map(({ node }) => node)).toEqual([worker.name])
  })

  test('run again with success it gives its node back', { timeout: 240_000 }, async () => {
    const slipway = stage()
    const [, worker] = slipway.cluster.nodes
    if (!worker) throw new Error('a cluster with workers was asked for')
    await worker.writeFile('/var/maintenance-works', '')
    // The person who repaired it finishes what the failed run left.
    await worker.run(['rm', '-f', required])
    await slipway.until('the node is back', 60_000, async () => !(await isCordoned(slipway, worker)))
    await expect.poll(() => exists(worker, inProgress)).toBe(false)
    await startScript(worker)
    await slipway.until('the script has worked', 120_000, async () => !(await exists(worker, required)))
    await slipway.until('the node is back', 60_000, async () => !(await isCordoned(slipway, worker)))
    await expect.poll(() => exists(worker, inProgress)).toBe(false)
    expect((await worker.readFile('/var/maintenance.log')).trim().split('\n')).toHaveLength(2)
    await expect.poll(() => annotationsOf(slipway, worker)).not.toHaveProperty(['k8s.io/maintenance-in-progress'])
    expect(await annotationsOf(slipway, worker)).toHaveProperty(['k8s.io/most-recent-maintenance-needed'])
  })

  test('two nodes that ask for a reboot at once are never away together', { timeout: 420_000 }, async () => {
    const slipway = stage()
    const workers = slipway.cluster.nodes.slice(1, 3)
    const before = await Promise.all(workers.map((machine) => machine.bootId()))
    const together: string[] = []
    const over = new AbortController()
    const watching = watchTogether(slipway, () => nodesOf(slipway), together, over.signal)
    await Promise.all(workers.map((machine) => machine.run(['touch', rebootRequired])))
    await slipway.until('both have rebooted and are back', 360_000, async () => {
      const boots = await Promise.all(workers.map((machine) => machine.bootId()))
      const nodes = await nodesOf(slipway)
      return boots.every((boot, index) => boot !== before[index]) && nodes.every(isBack)
    })
    over.abort()
    await watching
    expect(together).toEqual([])
    for (const machine of workers) expect(await exists(machine, rebootRequired)).toBe(false)
  })
}

function isBack({ spec, status }: KubeNode): boolean {
  return !spec.unschedulable && status.conditions.some((one) => one.type === 'Ready' && one.status === 'True')
}

async function watchTogether(
  slipway: SlipwayInCluster,
  look: () => Promise<readonly KubeNode[]>,
  together: string[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const away = (await look().catch(() => [])).filter((node) => !isBack(node)).map(({ metadata }) => metadata.name)
    const off = slipway.cluster.nodes.filter((machine) => !machine.isOn).map(({ name }) => name)
    const names = [...new Set([...away, ...off])]
    if (names.length > 1) together.push(`${new Date().toISOString()} ${names.join(', ')}`)
    await wait(200)
  }
}

async function setPolicy({ cluster }: SlipwayInCluster, spec: object): Promise<void> {
  const patch = JSON.stringify({ spec })
  await cluster.kubectl(['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge', '-p', patch])
}

async function startScript(machine: Machine): Promise<void> {
  await machine.writeFile('/usr/local/sbin/maintain', script, 0o755)
  await machine.run(['systemd-run', '--quiet', '--collect', '/usr/local/sbin/maintain'])
}
