// Agents that go for good while their nodes stay Ready, before anything was begun there: nobody is away, and nobody is kept up.

import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import type { DirectUpdate } from '../../src/api/direct-update.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'

const tolerant = { nodeTimeout: '5m', strategy: { maxFailures: 2 } } as const
const fetches = () => new Promise<never>(() => undefined)

/** In which phases the update is from now on, one after the other. */
function phasesOf({ cluster }: Story): readonly string[] {
  const phases: string[] = []
  cluster.sim.server.onCommit(({ kind, after }) => {
    const { phase } = (after as DirectUpdate | undefined)?.status ?? {}
    if (kind === 'DirectUpdate' && phase !== undefined && phases.at(-1) !== phase) phases.push(phase)
  })
  return phases
}

describe('agents that never take what their nodes are to stage', () => {
  scenario('keep no other node from an update that tolerates failures', { nodes: 5 }, async (story) => {
    const { cluster, update, faults } = story
    for (const name of ['w1', 'w2']) {
      faults.keepAway(name)
      cluster.machine(name).agent?.crash()
    }
    const running = update.kubernetes('v1.36.3', tolerant)
    for (const name of ['w1', 'w2']) await cluster.nodeIs(name, 'RequiresAttention', 'OrderTimedOut')
    expect(running.status.summary).toMatchObject({ done: 1 })
    const phases = phasesOf(story)
    await running.hasDone(3)
    await cluster.until('all slots are back', () => cluster.ledger.grants.length === 0)
    expect(cluster.taken).toEqual([])
    await running.is('RequiresAttention')
    // It calls for a person once, when nothing is left that could go.
    expect(phases).toEqual(['InProgress', 'RequiresAttention'])
  })
})

describe('a worker that fails before it is taken', () => {
  const web = new PretendWeb()
  scenario('opens no gate behind the control plane', { nodes: 5, web }, async (story) => {
    const { cluster, update, faults } = story
    web.answers('check.example', broken)
    faults.keepAway('w1')
    cluster.machine('w1').agent?.crash()
    const gates: GateSpec[] = [{ type: 'Http', url: 'http://check.example/ready', when: 'AfterWave', timeout: '5h' }]
    const running = update.kubernetes('v1.36.3', { ...tolerant, gates })
    await running.is('InProgress', 'GateWaiting')
    await cluster.nodeIs('w1', 'RequiresAttention', 'OrderTimedOut')
    await cluster.pass(600_000)
    expect(running.status.summary).toMatchObject({ done: 1 })
    web.answers('check.example', ok)
    await running.hasDone(4)
    await running.is('RequiresAttention')
  })
})

describe('agents that took what their nodes are to stage, and went', () => {
  const driversOf = (node: string) =>
    rehearsalDrivers.map((driver) => (node === 'w1' || node === 'w2' ? { ...driver, stage: fetches } : driver))

  scenario('keep no other node from an update that tolerates failures', { nodes: 5, driversOf }, async (story) => {
    const { cluster, update, faults } = story
    const running = update.kubernetes('v1.36.3', tolerant)
    for (const name of ['w1', 'w2']) {
      await cluster.until(`${name} fetches`, () => cluster.state(name)?.status?.agent?.order?.state === 'Accepted')
      faults.keepAway(name)
      cluster.machine(name).agent?.crash()
    }
    await running.is('InProgress', 'NodesStaging')
    await cluster.pass(600_000)
    for (const name of ['w1', 'w2']) await cluster.nodeIs(name, 'RequiresAttention', 'OrderTimedOut')
    await running.hasDone(3)
    expect(cluster.taken).toEqual([])
    await running.is('RequiresAttention')
  })
})

describe('an update that was cancelled', () => {
  scenario('ends though the agent of a node that was never begun is gone', { nodes: 4 }, async (story) => {
    const { cluster, update, faults } = story
    faults.keepAway('w1')
    cluster.machine('w1').agent?.crash()
    const running = update.kubernetes('v1.36.3', { nodeTimeout: '5m' })
    await cluster.nodeIs('w1', 'RequiresAttention', 'OrderTimedOut')
    await running.is('RequiresAttention')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(cluster.state('w1')?.status?.rollout).toBeUndefined()
  })
})
