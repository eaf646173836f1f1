// Plans foresee what other tools, lost nodes and the settings of the drain make of an update.

import { describe, expect } from 'vitest'
import { driverNames } from '../../src/agent/drivers/all-drivers.ts'
import { daemonSets, jobs } from '../../src/api/kube.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import type { NodeState } from '../../src/api/node-state.ts'
import type { PlanReport } from '../../src/core/plan/plan-report.ts'
import { loadedCluster } from '../../src/main/simulation/loaded-cluster.ts'
import { giveUpLostNodes } from '../../src/main/simulation/lost-nodes.ts'
import { createKured, kuredAnnotation, kuredPlace } from '../../src/sim/kured.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { planOf, rehearsed, snapshotOf } from './planned.ts'
import { type Story, scenario } from './story.ts'
import { shop } from './story-person.ts'
import { scriptOf } from './story-update.ts'

const { signal } = new AbortController()
const script = scriptOf('true')

const roomFor = (cpu: string): readonly NodeSpec[] =>
  ['cp1', 'w1', 'w2', 'w3', 'w4'].map((name) => ({
    name,
    role: name === 'cp1' ? 'control-plane' : 'worker',
    version: 'v1.35.4',
    allocatable: { cpu, memory: '16Gi' },
  }))

const asking = (cpu: string) => ({
  containers: [{ name: 'main', image: 'pretend', resources: { requests: { cpu } } }],
})

/** Two nodes hold all of it, if the small ones do not lie in the way of the large. */
async function deployLargeAndSmall({ cluster, person }: Story): Promise<void> {
  await person.deploys({ name: 'large', replicas: 2, maxUnavailable: 1, pod: asking('2') })
  await person.deploys({ name: 'middle', replicas: 1, pod: asking('1') })
  await person.deploys({ name: 'small', replicas: 6, pod: asking('500m') })
  await cluster.pass(20_000)
}

function withAllDrivers(state: NodeState): NodeState {
  const agent = state.status?.agent
  return { ...state, status: { ...state.status, ...(agent && { agent: { ...agent, drivers: [...driverNames] } }) } }
}

const blocks = ({ blockers }: PlanReport) => blockers.map(({ certainty, code }) => `${certainty} ${code}`)

describe('a plan foresees', () => {
  scenario('nothing of what only a registry knows, and says so', { nodes: 3 }, async (story) => {
    const unknown = await planOf(story, { kubernetes: { version: '1.99.*' } })
    expect(blocks(unknown)).toEqual(['possible VersionUnknown'])
    expect(unknown.verdict).toBe('possiblyBlocked')
    expect(unknown.assumptions).toContainEqual(expect.stringContaining('which version 1.99.* is, is found out when'))
    const image = 'registry.example/os:42'
    const { assumptions } = await planOf(story, { os: { image } })
    expect(assumptions).toContainEqual(expect.stringContaining(`which digest ${image} names is looked up`))
  })

  scenario('that a lock which another tool holds keeps everything back', { nodes: 3 }, async (story) => {
    const { cluster, person } = story
    await createKured(cluster.sim.client('kured'), signal)
    const annotation = 'example.com/other-lock'
    const lock = { type: 'Kured', daemonSet: kuredPlace, annotation } as const
    await person.setsPolicy({ locks: [lock] })
    await cluster.pass(5_000)
    expect(blocks(await planOf(story, { script }))).toEqual([])
    const held = JSON.stringify({ nodeID: 'w1', created: '2026-01-01T00:00:00Z', TTL: 0 })
    const body = { metadata: { annotations: { [annotation]: held, [kuredAnnotation]: 'not a lock', secret: 'x' } } }
    cluster.sim.server.patch('kured', daemonSets, kuredPlace, { type: 'merge', body })
    expect(blocks(await planOf(story, { script }))).toEqual(['certain ForeignLockHeld'])
    const [daemonSet] = (await snapshotOf(story)).daemonSets
    expect(Object.keys(daemonSet?.metadata.annotations ?? {})).toEqual([annotation])
  })

  scenario('that pods leave a node which is lost, in their time', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await person.deploys({ name: 'web', replicas: 3 })
    const tolerations = [{ operator: 'Exists' }] as const
    await person.createsPod('patient', 'w2', { tolerations })
    await cluster.pass(20_000)
    cluster.machine('w2').losePower()
    await cluster.pass(90_000)
    const snapshot = await snapshotOf(story)
    const loaded = loadedCluster(snapshot, { seed: 1, version: '0.0.0', update: { name: 'planned' } }).start()
    giveUpLostNodes(loaded, snapshot)
    const leaving = () => loaded.podsOn('w2').filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    await loaded.run({ limitMs: 200_000 })
    expect(leaving()).toEqual([])
    await loaded.run({ limitMs: 60_000 })
    expect(leaving().map(({ metadata }) => metadata.labels?.app)).toEqual(['web'])
  })

  scenario(
    'that a gate may fail on a pod of a lost node, and what comes after it is not certain',
    { nodes: 4 },
    async (story) => {
      const { cluster, person } = story
      await person.deploys({ name: 'web', replicas: 3 })
      await cluster.pass(20_000)
      cluster.machine('w2').losePower()
      await cluster.pass(90_000)
      const spec = { script, strategy: { maxUnavailable: 2 } } as const
      expect(blocks(await planOf(story, spec))).toEqual(['certain NodeNotReady'])
      const selector = { matchLabels: { app: 'web' } }
      const gate = { type: 'PodsReady', namespace: shop, selector, timeout: '30m' } as const
      for (const when of ['BeforeNode', 'AfterNode'] as const) {
        const plan = await planOf(story, { ...spec, gates: [{ ...gate, when }] })
        expect(blocks(plan).toSorted(), when).toEqual(['possible GateFailed', 'possible NodeNotReady'])
      }
    },
  )

  scenario('by more rehearsals that pods may find no room', { nodes: roomFor('4') }, async (story) => {
    await deployLargeAndSmall(story)
    const spec = { script, strategy: { maxUnavailable: 2 } } as const
    // Chance decides it, and which of the two it is: about once in twenty.
    const plan = await rehearsed(await snapshotOf(story), spec, { rehearsals: 1, rehearsalsWhereTight: 60 })
    expect(plan.rehearsals).toBe(60)
    expect(plan.unplaced.map(({ certainty }) => certainty)).toContain('possible')
    for (const { workload } of plan.unplaced) expect(workload).toMatch(/^Deployment shop\/(large|middle)$/)
  })

  scenario('by few that all find room where there is enough', { nodes: roomFor('8') }, async (story) => {
    await deployLargeAndSmall(story)
    const spec = { script, strategy: { maxUnavailable: 2 } } as const
    const plan = await rehearsed(await snapshotOf(story), spec, { rehearsals: 1, rehearsalsWhereTight: 15 })
    expect(plan.rehearsals).toBe(1)
    expect(plan.unplaced).toEqual([])
  })

  scenario('that a drain which is given up fails its node', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await person.deploys({ name: 'web', replicas: 1, minAvailable: 1 })
    await cluster.pass(20_000)
    const drain = { timeout: '5m', onTimeout: 'Abort' } as const
    expect(blocks(await planOf(story, { script, drain }))).toEqual(['certain DrainAborted'])
  })

  scenario('that a pod which may be forced is in nobody’s way', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(20_000)
    const rule = { action: 'Force', timeout: '5m' } as const
    expect(blocks(await planOf(story, { script, drain: { rules: [rule] } }))).toEqual([])
    expect(blocks(await planOf(story, { script, drain: { onTimeout: 'Force' } }))).toEqual([])
  })

  scenario('no order where zones have budgets of their own', { nodes: 5 }, async (story) => {
    const { cluster, person } = story
    for (const [name, zone] of Object.entries({ w1: 'a', w2: 'b', w3: 'a', w4: 'b' }))
      await person.labels(name, { 'topology.kubernetes.io/zone': zone })
    await person.setsPolicy({ budgets: [{ per: 'topology.kubernetes.io/zone', maxUnavailable: 1 }] })
    await cluster.pass(5_000)
    const certain = async (maxUnavailable: number) =>
      (await planOf(story, { script, strategy: { maxUnavailable } })).waves[1]?.nodes.map((node) => node.certain)
    expect(await certain(1)).toEqual([true, true, true, true])
    expect(await certain(2)).toEqual([false, false, false, false])
  })

  scenario('that a job may end in time', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await person.deploys({ name: 'web', replicas: 1 })
    const container = { name: 'main', image: 'pretend' }
    const template = {
      metadata: { labels: { app: 'batch' } },
      spec: { restartPolicy: 'Never' as const, containers: [container] },
    }
    await person.creates(jobs, { metadata: { name: 'batch', namespace: shop }, spec: { completions: 500, template } })
    await cluster.pass(20_000)
    const drain = {
      timeout: '5s',
      rules: [{ selector: { matchLabels: { app: 'batch' } }, action: 'WaitForCompletion' as const }],
    }
    expect(blocks(await planOf(story, { script, drain }))).toEqual(['possible PodCompleting'])
  })

  scenario('what a profile does, though nobody has read its Secrets', { nodes: 3 }, async (story) => {
    const { cluster, person } = story
    const files = [
      { path: '/etc/token', secret: { name: 'token', key: 'value' } },
      { path: '/etc/other', configMap: { name: 'other', key: 'text' } },
    ]
    const spec = { rollout: 'ByUpdate', disruption: 'Drain', files } as const
    await person.creates(nodeProfiles, { metadata: { name: 'tuned' }, spec: { ...spec, files: [...files] } })
    await cluster.pass(5_000)
    // The agents of these stories cannot apply profiles; real ones can.
    const snapshot = await snapshotOf(story)
    const plan = await rehearsed(
      { ...snapshot, nodeStates: snapshot.nodeStates.map(withAllDrivers) },
      { profile: 'tuned' },
    )
    expect(blocks(plan)).toEqual([])
    expect(plan.nodes).toBe(3)
    expect(plan.durationSeconds.least, 'each is drained for it and does the work').toBeGreaterThan(3 * 45)
    expect(plan.assumptions).toContain(
      'files of profiles whose content is not in a snapshot, and taken to be there: Secret token, ConfigMap other',
    )
  })
})
