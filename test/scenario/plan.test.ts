// A plan is made from what can be read of a living cluster, and the cluster is left as it was.

import { describe, expect } from 'vitest'
import type { GateSpec } from '../../src/api/gate.ts'
import { planOf } from './planned.ts'
import { scenario } from './story.ts'
import { shop } from './story-person.ts'
import { scriptOf } from './story-update.ts'

const script = scriptOf('true')

const requests = (cpu: string) => ({
  containers: [{ name: 'main', image: 'pretend', resources: { requests: { cpu } } }],
})

describe('a plan', () => {
  scenario('of an update that nothing holds up names every node in its order', { nodes: 5 }, async (story) => {
    await story.person.deploys({ name: 'web', replicas: 3, maxUnavailable: 1 })
    await story.cluster.pass(20_000)
    const versionBefore = story.cluster.sim.server.resourceVersion
    const plan = await planOf(story, { script })
    expect(plan).toMatchObject({ verdict: 'clear', nodes: 5, blockers: [], unplaced: [] })
    expect(plan.waves.map(({ nodes }) => nodes.map(({ name }) => name))).toEqual([['cp1'], ['w1', 'w2', 'w3', 'w4']])
    expect(plan.waves.every(({ nodes }) => nodes.every(({ certain }) => certain))).toBe(true)
    expect(plan.warnings).toMatchObject([
      {
        code: 'ControlPlaneAway',
        message: expect.stringMatching(
          /while cp1 is worked on: it is the only .*; expect it back after 1m at most \(assumed\)$/,
        ),
      },
    ])
    expect(plan.durationSeconds.expected).toBeGreaterThan(5 * 45)
    expect(plan.durationSeconds.expected).toBeLessThan(5 * 120)
    const written = Number(story.cluster.sim.server.resourceVersion) - Number(versionBefore)
    expect(written, 'only heartbeats go on').toBeLessThan(20)
  })

  scenario('knows that a backup comes first, without its Secrets', { nodes: 3 }, async (story) => {
    const far = { name: 'far', s3: { bucket: 'backups', secret: 'keys' }, encryption: { secret: 'key' } }
    await story.person.setsPolicy({ backupStores: [{ ...far, schedule: { cron: '@daily' } }] })
    const plan = await planOf(story, { script, backup: { etcd: 'Required' } })
    expect(plan).toMatchObject({ verdict: 'clear', nodes: 3, blockers: [] })
    expect(plan.assumptions).toContain('backups of etcd are taken to succeed within half a minute')
    const needless = await planOf(story, { script, backup: { store: 'near' } })
    expect(needless.verdict).toBe('clear')
    const lacking = await planOf(story, { script, backup: { etcd: 'Required', store: 'near' } })
    expect(lacking).toMatchObject({ verdict: 'blocked', blockers: [{ code: 'BackupStoreMissing' }] })
  })

  scenario('calls a budget that never allows anything certain', { nodes: 4 }, async (story) => {
    await story.person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await story.cluster.pass(20_000)
    const plan = await planOf(story, { script })
    expect(plan.verdict).toBe('blocked')
    expect(plan.blockers).toMatchObject([
      { certainty: 'certain', code: 'PodDisruptionBudget', cause: 'PodDisruptionBudget shop/web' },
    ])
    expect(plan.nodes, 'it is rehearsed to the end all the same').toBe(4)
  })

  scenario('finds every obstacle, not the first one only', { nodes: 4 }, async (story) => {
    await story.person.deploys({ name: 'web', replicas: 2, maxUnavailable: 0 })
    await story.person.createsPod('lonely', 'w2')
    await story.cluster.pass(20_000)
    const { blockers } = await planOf(story, { script })
    expect(blockers.map(({ certainty, cause }) => `${certainty} ${cause}`)).toEqual([
      'certain Pod shop/lonely',
      'certain PodDisruptionBudget shop/web',
    ])
  })

  scenario('tells of pods that have only one node to go to', { nodes: 4 }, async (story) => {
    const pod = { nodeSelector: { 'kubernetes.io/hostname': 'w2' } }
    await story.person.deploys({ name: 'bound', replicas: 2, minAvailable: 1, pod })
    await story.cluster.pass(20_000)
    const { blockers, unplaced } = await planOf(story, { script })
    expect(blockers).toMatchObject([{ certainty: 'certain', cause: 'PodDisruptionBudget shop/bound', nodes: ['w2'] }])
    expect(unplaced).toMatchObject([{ certainty: 'certain', workload: 'Deployment shop/bound' }])
    expect(unplaced[0]?.message).toContain("didn't match Pod's node affinity/selector")
  })

  scenario('tells of pods that fit nowhere while a node is away', { nodes: 4 }, async (story) => {
    await story.person.deploys({ name: 'large', replicas: 3, pod: requests('5') })
    await story.cluster.pass(20_000)
    const { unplaced, verdict } = await planOf(story, { script })
    expect(verdict).toBe('clear')
    expect(unplaced).toMatchObject([{ certainty: 'certain', workload: 'Deployment shop/large' }])
    expect(unplaced[0]?.message).toContain('had too little cpu')
  })

  scenario('of what the operator would refuse says so at once', { nodes: 3 }, async (story) => {
    const plan = await planOf(story, { kubernetes: { version: 'v1.34.0' } })
    expect(plan).toMatchObject({ verdict: 'blocked', nodes: 0, rehearsals: 1, blockers: [{ code: 'Downgrade' }] })
  })

  scenario('knows nodes that are down, and waits for none of them for ever', { nodes: 4 }, async (story) => {
    story.cluster.machine('w2').losePower()
    await story.cluster.until(
      'w2 is gone',
      () =>
        !story.cluster
          .node('w2')
          ?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    const plan = await planOf(story, { script, strategy: { maxUnavailable: 2 } })
    expect(plan.blockers).toMatchObject([{ certainty: 'certain', code: 'NodeNotReady' }])
    expect(plan.waves.flatMap(({ nodes }) => nodes.map(({ name }) => name))).toEqual(['cp1', 'w1', 'w3'])
  })

  scenario('measures with the times of earlier work', { nodes: 3 }, async (story) => {
    const before = await planOf(story, { script })
    await story.update.script('true').succeeds()
    const after = await planOf(story, { script })
    expect(before.assumptions[0]).toBe('assumed, for want of a measurement: script 60 s')
    expect(after.assumptions[0]).toMatch(/^measured on earlier work: script \d s$/)
    expect(after.durationSeconds.expected).toBeLessThan(before.durationSeconds.expected / 2)
  })

  scenario('looks at gates on nodes and pods, and names what it cannot ask', { nodes: 3 }, async (story) => {
    const { cluster, person } = story
    await person.deploys({ name: 'web', replicas: 2 })
    await person.setsPolicy({ gates: [{ type: 'Prometheus', url: 'http://prometheus.example', query: 'up', min: 1 }] })
    await cluster.pass(20_000)
    const pods: GateSpec = { type: 'PodsReady', namespace: shop, selector: { matchLabels: { app: 'web' } }, atLeast: 2 }
    const plan = await planOf(story, {
      script,
      gates: [
        { name: 'shop-answers', type: 'Http', url: 'http://check.example' },
        { type: 'Job', cronJob: 'smoke' },
        {
          name: 'ceph',
          type: 'Cel',
          object: { apiVersion: 'v1', resource: 'things' },
          expression: 'size(objects) > 0',
        },
        pods,
      ],
      hooks: [{ name: 'noout', when: 'BeforeNode', job: { cronJob: 'set' }, cleanup: { job: { cronJob: 'unset' } } }],
    })
    expect(plan).toMatchObject({ verdict: 'clear', nodes: 3, blockers: [] })
    expect(plan.assumptions).toContain(
      'gates that are not rehearsed, and taken to hold at once: Prometheus, shop-answers (Http), Job, ceph (Cel)',
    )
    expect(plan.assumptions).toContain('hooks that are not run, nor counted: noout')
    const { blockers, nodes } = await planOf(story, { script, gates: [{ ...pods, atLeast: 3, timeout: '1h' }] })
    expect(nodes).toBe(0)
    expect(blockers).toMatchObject([{ certainty: 'certain', code: 'GateFailed' }])
    expect(blockers[0]?.message).toContain('2 pod(s) are there, at least 3 must be')
  })

  scenario('refuses a gate that can never be told, as the operator does', { nodes: 2 }, async (story) => {
    const object = { apiVersion: 'v1', resource: 'things' }
    const gates: GateSpec[] = [{ name: 'ceph', type: 'Cel', object, expression: 'object.status.' }]
    expect(await planOf(story, { script, gates })).toMatchObject({
      verdict: 'blocked',
      blockers: [{ code: 'GateInvalid' }],
    })
  })
})
