// One rollout over fifty nodes through everything that may be killed: judged by an onlooker and by the machines' own disks.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { createWorkload } from '../rollout-rig/cluster-objects.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const from = 'v1.35.4'
const to = 'v1.36.3'
const limits = { update: 10, policy: 12 }
const { signal } = new AbortController()
/** A minute and a half where nobody else is at work. */
const patienceMs = 600_000
/** The same seed makes the same kills at the same progress; the moments between are real time's. */
const seed = Number(process.env.SLIPWAY_SEED ?? Date.now() % 1_000_000)

interface Blow {
  /** Falls when that many nodes are done. */
  readonly atDone: number
  readonly delayMs: number
  readonly what: 'leader' | 'agents' | 'apiServer'
}

function drawBlows(random: SeededRandom): readonly Blow[] {
  const blow = (what: Blow['what'], first: number, last: number): Blow => ({
    what,
    atDone: random.whole(first, last),
    delayMs: random.between(0, 2_500),
  })
  return [
    blow('leader', 0, 2),
    blow('leader', 6, 20),
    blow('leader', 28, 42),
    blow('apiServer', 10, 35),
    ...Array.from({ length: 6 }, () => blow('agents', 0, 45)),
  ].sort((a, b) => a.atDone - b.atDone)
}

describe.skipIf(missing)(`a rollout over 50 nodes (SLIPWAY_SEED=${seed})`, () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 3, workers: 47, agentProcesses: 4, work: '2s', version: from })
    for (const name of ['shop', 'search', 'mail', 'cart']) {
      await createWorkload(rig.api, { name, replicas: 12, maxUnavailable: 2 }, signal)
    }
    await rig.setBudget(limits.policy)
  })

  afterAll(async () => {
    await rig?.stop()
  })

  async function strike(what: Blow['what'], random: SeededRandom): Promise<void> {
    switch (what) {
      case 'leader': {
        const { process } = (await rig.leader()).leader
        await process.kill()
        await wait(random.between(0, 2_000))
        process.start()
        return
      }
      case 'agents': {
        const process = random.pick(rig.agents)
        await process?.kill()
        await wait(random.between(0, 3_000))
        process?.start()
        return
      }
      case 'apiServer':
        await rig.server.killApi()
        await wait(random.between(500, 4_000))
        await rig.server.startApi()
    }
  }

  test('finishes, each node done once, whatever is killed', { timeout: 2 * patienceMs }, async () => {
    const random = new SeededRandom(seed)
    const blows = drawBlows(random)
    await rig.createUpdate('to-1-36', { kubernetes: { version: to }, strategy: { maxUnavailable: limits.update } })
    const fallen: string[] = []
    const falling = blows.map(async ({ what, atDone, delayMs }, index) => {
      await vi.waitFor(() => expect(rig.observer.done(to)).toBeGreaterThanOrEqual(atDone), patienceMs)
      await wait(delayMs)
      await strike(what, random.fork(`blow ${index}`))
      fallen.push(what)
    })
    await rig.meanwhile('to-1-36', Promise.all(falling))
    const update = await rig.ended('to-1-36', patienceMs)

    expect(fallen.sort()).toEqual([...Array(6).fill('agents'), 'apiServer', 'leader', 'leader', 'leader'])
    expect(update.status?.phase).toBe('Succeeded')
    expect(rig.observer.done(to)).toBe(50)
    expect(rig.observer.cordoned()).toEqual([])
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])

    const { sights } = rig.observer
    expect(Math.max(...sights.map(({ away }) => away))).toBeLessThanOrEqual(limits.update)
    expect(Math.max(...sights.map(({ controlPlaneAway }) => controlPlaneAway))).toBe(1)
    // Away once each, back at the target, and the control plane is done before the first worker goes.
    expect(sights.filter(({ change }) => change === 'away')).toHaveLength(50)
    expect(sights.filter(({ change, version }) => change === 'back' && version !== to)).toEqual([])
    const first = sights.slice(0, 6).map(({ controlPlane, change }) => ({ controlPlane, change }))
    expect(first).toEqual(
      Array.from({ length: 6 }, (_, index) => ({ controlPlane: true, change: index % 2 === 0 ? 'away' : 'back' })),
    )

    const steps = rig.ranSteps()
    expect(steps.filter(({ times }) => times !== 1)).toEqual([])
    expect(new Set(steps.map(({ node, order }) => `${node} ${order}`)).size).toBe(50)
    // Two steps a worker, three a control-plane node.
    expect(steps).toHaveLength(47 * 2 + 3 * 3)
  })
})
