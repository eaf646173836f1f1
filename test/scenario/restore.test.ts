// etcd goes back in time in the middle of a rollout: the API forgets, the machines do not.

import { describe, expect } from 'vitest'
import { goesBack, rollCall } from './restored-cluster.ts'
import { play, type Story, scenario } from './story.ts'

/** No script ran to its end twice on a node, and none was let run while too many others did. */
function ranOnce({ cluster }: Story): void {
  for (const name of cluster.names) {
    const ended = cluster
      .machine(name)
      .host.executions.filter(
        ({ step, outcome, exitCode }) => step === 'script' && outcome === 'exited' && exitCode === 0,
      )
    expect(ended, `scripts that ended on ${name}`).toHaveLength(1)
  }
}

describe('etcd is restored in the middle of a rollout', () => {
  scenario('every agent is asked first, then it goes on', { nodes: 5 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining')
    const saved = cluster.sim.server.save()
    await cluster.nodeIs('w2', 'Working')
    const { epoch } = cluster.ledger
    await goesBack(story, saved, 'a1')
    expect(cluster.state('w1')?.status?.rollout?.phase).toBe('Draining')
    expect(cluster.state('w2')?.status?.rollout).toBeUndefined()
    await cluster.until('the ledger is ahead of all that was', () => cluster.ledger.epoch > epoch)
    expect(rollCall(story)).toBeUndefined()
    expect(cluster.ledger.restored).toBe('a1')
    await running.succeeds()
    ranOnce(story)
  })

  scenario('by hand, without a mark: agents that have seen a higher epoch tell', { nodes: 5 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    const saved = cluster.sim.server.save()
    const { epoch } = cluster.ledger
    for (const program of cluster.sim.programs()) program.crash()
    await cluster.nodeIs('w3', 'Working')
    expect(cluster.ledger.epoch).toBeGreaterThan(epoch)
    const lost = cluster.ledger.epoch
    await goesBack(story, saved)
    await cluster.until('the ledger is ahead of all that was', () => cluster.ledger.epoch > lost)
    expect(cluster.ledger.restored).toBe(`epoch-${lost}`)
    await running.succeeds()
    ranOnce(story)
  })

  scenario('nothing starts while an agent is silent', { nodes: 5 }, async (story) => {
    const { cluster, update, person, faults } = story
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining')
    const saved = cluster.sim.server.save()
    await cluster.nodeIs('w2', 'Working')
    const runs = { ...cluster.allRuns }
    faults.keepAway('w4')
    cluster.machine('w4').agent?.crash()
    await goesBack(story, saved, 'a1')
    await cluster.until('w4 is waited for', () => rollCall(story)?.waitingFor.join() === 'w4')
    await cluster.pass(900_000)
    expect(cluster.allRuns).toEqual(runs)
    expect(rollCall(story)?.reason.message).toContain('w4')
    faults.letCome('w4')
    await running.succeeds()
    ranOnce(story)
  })
})

describe('whenever etcd goes back', () => {
  scenario('at each phase of the next node', { nodes: 4 }, async () => {
    for (const phase of ['Draining', 'Working', 'Done'] as const) {
      await play({ nodes: 4 }, async (story) => {
        const { cluster, update, person } = story
        await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
        const before = cluster.sim.server.save()
        const running = update.script('true')
        await cluster.nodeIs('w1', 'Working')
        const saved = cluster.sim.server.save()
        await cluster.nodeIs('w2', phase)
        await goesBack(story, saved, phase)
        await running.succeeds()
        ranOnce(story)
        // To a time before there was an update at all: nothing of it is done again, and nothing of ours is left.
        await goesBack(story, before, `${phase}-again`)
        await cluster.until('the roll was called', () => cluster.ledger.restored === `${phase}-again`)
        await cluster.pass(120_000)
        expect(cluster.taken).toEqual([])
        ranOnce(story)
      })
    }
  })
})
