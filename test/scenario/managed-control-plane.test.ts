// A control plane that somebody else runs: the cluster has none of its nodes, and only its API tells its version.

import { expect } from 'vitest'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const served = 'v1.36.3'
const next = 'v1.37.0'
const workers: readonly NodeSpec[] = ['w1', 'w2', 'w3'].map((name) => ({ name, role: 'worker', version: served }))
const story = { nodes: workers, versionsOnOffer: [served, next] }

/** How often its version was asked for since. */
function questions({ sim: { server } }: StoryCluster): () => number {
  let asked = 0
  const answer = server.serverVersion.bind(server)
  server.serverVersion = () => {
    asked += 1
    return answer()
  }
  return () => asked
}

scenario('when it was upgraded workers may follow, without another leader', story, async ({ cluster, update }) => {
  cluster.sim.server.setServerVersion(next)
  await update.kubernetes(next).succeeds()
})

scenario('what came too early goes on when it was upgraded', story, async ({ cluster, update }) => {
  const early = await update.kubernetes(next).is('Pending', 'KubeletWouldBeNewer')
  expect(early.condition('Planned')?.message).toContain(`the oldest API server runs ${served}`)
  await cluster.pass(600_000)
  cluster.sim.server.setServerVersion(next)
  await early.succeeds()
})

scenario('one that went back holds the next workers up until it is upgraded again', story, async (told) => {
  const { cluster, person, update } = told
  cluster.sim.server.setServerVersion(next)
  await person.setsPolicy({ paused: true })
  const running = await update.kubernetes(next).is('InProgress')
  cluster.sim.server.setServerVersion(served)
  await cluster.pass(660_000)
  await person.setsPolicy({ paused: false })
  const asked = questions(cluster)
  await cluster.pass(600_000)
  expect(running.condition('Blocked')?.message).toContain(`the oldest API server runs ${served}`)
  expect(cluster.taken).toEqual([])
  expect(asked()).toBeLessThanOrEqual(25)
  cluster.sim.server.setServerVersion(next)
  await running.succeeds()
})

scenario('it is asked for seldom while nothing depends on it', story, async ({ cluster }) => {
  const asked = questions(cluster)
  await cluster.pass(3_600_000)
  expect(asked()).toBeGreaterThan(0)
  expect(asked()).toBeLessThanOrEqual(6)
})
