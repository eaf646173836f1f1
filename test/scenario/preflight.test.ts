import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { deployments } from '../../src/api/kube.ts'
import { isReady } from '../../src/core/node/node-facts.ts'
import { sleep } from '../../src/kube/sleep.ts'
import type { AgentTools } from '../../src/main/simulation/simulated-cluster.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { scenario } from './story.ts'

const late: { cgroup: 'v1' | 'v2'; kubeletFlags: string[] } = { cgroup: 'v1', kubeletFlags: [] }
const hosts: readonly NodeSpec[] = [
  { name: 'cp1', role: 'control-plane', version: 'v1.34.9' },
  { name: 'w1', role: 'worker', version: 'v1.34.9' },
  { name: 'w2', role: 'worker', version: 'v1.34.9', facts: late },
]

const all = { preflight: { skip: [] } }

describe('an update that preflight does not let go', () => {
  scenario('touches nothing, says why, and starts when it is put right', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const waiting = await update.script('true', all).is('Pending', 'PreflightFailed')
    expect(waiting.condition('Planned')?.message).toMatch(/^DisruptionBudgets \(Failed\): .*shop\/web/)
    await cluster.pass(120_000)
    expect(cluster.taken).toEqual([])
    await person.changes(deployments, 'web', { spec: { replicas: 3 } })
    await waiting.succeeds()
    expect(waiting.status.preflight).toContainEqual(
      expect.objectContaining({ check: 'DisruptionBudgets', result: 'Passed' }),
    )
  })

  scenario('goes when the check is skipped, and that stays on record', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const waiting = await update.script('true', all).is('Pending', 'PreflightFailed')
    await waiting.isEdited({ preflight: { skip: ['DisruptionBudgets'] } })
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    expect(waiting.status.preflight).toContainEqual(
      expect.objectContaining({ check: 'DisruptionBudgets', result: 'Skipped' }),
    )
  })
})

describe('a control plane without agents', () => {
  const noControlPlane = { key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }
  const workers = { matchExpressions: [noControlPlane] }
  scenario('keeps no update from the workers', { nodes: 3, withoutAgent: ['cp1'] }, async ({ cluster, update }) => {
    const done = await update.script('true', { ...all, nodeSelector: workers }).succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 1, w2: 1 })
    expect(done.status.preflight).toContainEqual(expect.objectContaining({ check: 'Certificates', result: 'Warning' }))
  })
})

describe('a host that nobody could ask before', () => {
  const told = { nodes: hosts, withoutAgent: ['w2'] }
  scenario('is not drained while it lacks what the target asks for', told, async (story) => {
    const { cluster, update, faults } = story
    late.cgroup = 'v1'
    cluster.machine('w2').losePower()
    await cluster.until('w2 is not Ready', () => {
      const node = cluster.node('w2')
      return node !== undefined && !isReady(node)
    })
    const waiting = await update.kubernetes('v1.35.3', { strategy: { maxUnavailable: 2 } }).hasDone(2)
    faults.letCome('w2')
    cluster.machine('w2').powerOn()
    await waiting.is('RequiresAttention', 'PreflightFailed')
    await cluster.pass(600_000)
    expect(waiting.condition('Blocked')?.message).toMatch(/^TargetRequirements: .*cgroup v2 .*: w2 has cgroup v1/)
    expect(cluster.taken).not.toContain('w2')
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.34.9')
    late.cgroup = 'v2'
    cluster.machine('w2').agent?.crash()
    await waiting.succeeds()
  })

  scenario('is not drained while a person gives its kubelet a flag that is gone', told, async (story) => {
    const { cluster, update, faults } = story
    late.cgroup = 'v2'
    late.kubeletFlags = ['pod-infra-container-image']
    cluster.machine('w2').losePower()
    await cluster.until('w2 is not Ready', () => {
      const node = cluster.node('w2')
      return node !== undefined && !isReady(node)
    })
    const waiting = await update.kubernetes('v1.35.3', { strategy: { maxUnavailable: 2 } }).hasDone(2)
    faults.letCome('w2')
    cluster.machine('w2').powerOn()
    await waiting.is('RequiresAttention', 'PreflightFailed')
    await cluster.pass(600_000)
    expect(waiting.condition('Blocked')?.message).toMatch(/^KubeletFlags: .*--pod-infra-container-image \(w2\)/)
    expect(cluster.taken).not.toContain('w2')
    late.kubeletFlags = []
    cluster.machine('w2').agent?.crash()
    await waiting.succeeds()
  })

  const more = ['w3', 'w4', 'w5'].map((name) => ({ name, role: 'worker', version: 'v1.34.9' }) as const)
  const fetched = new Set<string>()
  const driversOf = (node: string, { clock }: AgentTools) =>
    rehearsalDrivers.map((driver) => ({
      ...driver,
      stage: async (_context: unknown, signal: AbortSignal) => {
        if (!fetched.has(node)) await sleep(clock, 240_000, signal)
        fetched.add(node)
        return undefined
      },
    }))
  const early = { nodes: [...hosts, ...more], withoutAgent: ['w2'], driversOf }
  scenario('calls for a person only when nobody else can go', early, async (story) => {
    const { cluster, update, faults } = story
    late.cgroup = 'v1'
    fetched.clear()
    cluster.machine('w2').losePower()
    await cluster.until('w2 is not Ready', () => {
      const node = cluster.node('w2')
      return node !== undefined && !isReady(node)
    })
    const phases: string[] = []
    const running = update.kubernetes('v1.35.3', {})
    cluster.sim.server.onCommit(() => {
      const { phase } = running.object?.status ?? {}
      if (phase !== undefined && phases.at(-1) !== phase) phases.push(phase)
    })
    await running.hasDone(1)
    faults.letCome('w2')
    cluster.machine('w2').powerOn()
    await running.is('RequiresAttention', 'PreflightFailed')
    await running.hasDone(5)
    await running.is('RequiresAttention', 'PreflightFailed')
    expect(running.status.summary).toMatchObject({ done: 5, waiting: 1 })
    expect(phases.slice(phases.indexOf('InProgress'))).toEqual(['InProgress', 'RequiresAttention'])
  })
})
