import { describe, expect } from 'vitest'
import type { GateSpec } from '../../src/api/gate.ts'
import { type Container, cronJobs, deployments, jobs, type KubeObject, type ResourceType } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { broken, ok, PretendWeb, prometheusSays } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { type Person, shop } from './story-person.ts'
import type { StoryUpdate } from './story-update.ts'

const url = 'http://check.example/ready'
const http = { type: 'Http', url } as const satisfies GateSpec
const workers = {
  matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
}

interface Volume extends KubeObject {
  readonly status?: { readonly robustness?: string }
}
const volumes: ResourceType<Volume> = {
  apiVersion: 'storage.example/v1',
  kind: 'volumes',
  plural: 'volumes',
  namespaced: true,
}

function untouched({ cluster }: Pick<Story, 'cluster'>): void {
  expect(cluster.taken).toEqual([])
  expect(cluster.ledger.grants).toEqual([])
  for (const name of cluster.names) expect(cluster.runs(name)).toBe(0)
}

async function tells({ cluster }: Story, held: StoryUpdate, what: string): Promise<void> {
  await cluster.until(`it says ${what}`, () => held.condition('Blocked')?.message.includes(what) === true)
}

function environment(container: Container | undefined): Readonly<Record<string, string>> {
  const entries = container?.env as readonly { readonly name: string; readonly value: string }[]
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]))
}

async function makesCronJob(person: Person, name: string): Promise<void> {
  const container = { name: 'main', image: 'pretend' }
  const template = { spec: { restartPolicy: 'Never' as const, containers: [container] } }
  const spec = { schedule: '@yearly', suspend: true, jobTemplate: { spec: { backoffLimit: 0, template } } }
  await person.creates(cronJobs, { metadata: { name, namespace: operatorNamespace }, spec })
}

describe('a gate before a node', () => {
  const web = new PretendWeb()
  scenario('keeps every node untouched until it holds', { nodes: 3, web }, async (story) => {
    const { cluster, update } = story
    web.answers('check.example', broken)
    const held = await update.script('true', { gates: [http] }).is('InProgress', 'GateWaiting')
    expect(held.condition('Blocked')?.message).toMatch(/check.example answered 503: not now; expected 200 to 299/)
    expect(held.status.gates).toMatchObject([{ name: 'Http', when: 'BeforeNode', state: 'Waiting' }])
    await cluster.pass(120_000)
    untouched(story)
    web.answers('check.example', ok)
    await held.succeeds()
    expect(held.status.gates).toBeUndefined()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  const silent = new PretendWeb()
  scenario(
    'that nobody answers for fails after its time-out, and goes on by itself',
    { nodes: 2, web: silent },
    async (story) => {
      const { update, cluster } = story
      silent.answers('check.example', 'unreachable')
      const held = await update.script('true', { gates: [http] }).is('RequiresAttention', 'GateFailed')
      expect(held.condition('Blocked')?.message).toMatch(/connection refused; not so within its timeout of 5m/)
      expect(held.status.gates).toMatchObject([{ state: 'Failed' }])
      untouched(story)
      silent.answers('check.example', ok)
      await held.succeeds()
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1 })
    },
  )

  const metrics = new PretendWeb()
  scenario('is asked anew for every node', { nodes: 3, web: metrics }, async ({ update, cluster }) => {
    metrics.answers('prometheus.example', prometheusSays('0'))
    const gate: GateSpec = { type: 'Prometheus', url: 'http://prometheus.example', query: 'errors', max: 0 }
    const held = await update.script('true', { gates: [gate] }).hasDone(1)
    metrics.answers('prometheus.example', prometheusSays('7'))
    await held.is('InProgress', 'GateWaiting')
    const done = held.status.summary?.done ?? 0
    expect(held.condition('Blocked')?.message).toContain('{job="shop"} = 7; it must be at most 0')
    await cluster.pass(60_000)
    expect(held.status.summary?.done).toBe(done)
    metrics.answers('prometheus.example', prometheusSays('0'))
    await held.succeeds()
  })

  scenario('is not asked any more when the update is gone', { nodes: 2, web: metrics }, async ({ update, cluster }) => {
    metrics.answers('check.example', broken)
    const held = await update.script('true', { gates: [http] }).is('InProgress', 'GateWaiting')
    await held.isDeleted()
    await held.isGone()
    await cluster.pass(30_000)
    const asked = metrics.requests.length
    await cluster.pass(600_000)
    expect(metrics.requests.length).toBe(asked)
  })

  const lasting = new PretendWeb()
  scenario('keeps its time when the operator is killed', { nodes: 2, web: lasting }, async ({ update, cluster }) => {
    lasting.answers('check.example', broken)
    const held = await update.script('true', { gates: [http] }).is('InProgress', 'GateWaiting')
    const startedMs = cluster.sim.clock.monotonicMs()
    await cluster.pass(200_000)
    for (const process of cluster.sim.programs()) process.crash()
    await held.is('RequiresAttention', 'GateFailed')
    expect(cluster.sim.clock.monotonicMs() - startedMs).toBeLessThan(330_000)
  })

  scenario('waits for the other nodes to be Ready', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    cluster.machine('w3').kubelet?.crash()
    await cluster.until(
      'w3 is away',
      () => cluster.node('w3')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
    )
    const only = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
    await person.setsPolicy({ budgets: [{ maxUnavailable: 2 }] })
    const held = await update
      .script('true', { nodeSelector: only, gates: [{ type: 'NodeReady' }] })
      .is('InProgress', 'GateWaiting')
    expect(held.condition('Blocked')?.message).toContain('w3 is not Ready')
    untouched(story)
  })

  scenario('waits for pods', { nodes: 3 }, async (story) => {
    const { update, person, cluster } = story
    const gate: GateSpec = { type: 'PodsReady', namespace: shop, selector: { matchLabels: { app: 'web' } }, atLeast: 2 }
    const held = await update.script('true', { gates: [gate], nodeSelector: workers }).is('InProgress', 'GateWaiting')
    await tells(story, held, '0 pod(s) are there, at least 2 must be')
    untouched(story)
    await person.deploys({ name: 'web', replicas: 2 })
    await held.succeeds()
    await person.changes(deployments, 'web', { spec: { replicas: 0 } })
    await cluster.pass(30_000)
  })

  scenario('reads any object by CEL', { nodes: 2 }, async (story) => {
    const { update, person } = story
    const gate: GateSpec = {
      type: 'Cel',
      object: { apiVersion: 'storage.example/v1', resource: 'volumes', namespace: shop, name: 'data' },
      expression: "object.status.robustness == 'healthy' && node.metadata.name != ''",
    }
    await person.deploys({ name: 'web', replicas: 0 })
    const held = await update.script('true', { gates: [gate] }).is('InProgress', 'GateWaiting')
    await tells(story, held, 'volumes shop/data is not there')
    await person.creates(volumes, { metadata: { name: 'data', namespace: shop } })
    await tells(story, held, 'No such key: status')
    await person.changes(volumes, 'data', { status: { robustness: 'degraded' } })
    await tells(story, held, 'is false')
    untouched(story)
    await person.changes(volumes, 'data', { status: { robustness: 'healthy' } })
    await held.succeeds()
  })
})

describe('a gate after a node', () => {
  const web = new PretendWeb()
  scenario('keeps it cordoned, and fails it in the end', { nodes: 3, web }, async ({ cluster, update }) => {
    web.answers('check.example', broken)
    const failed = update.script('true', { gates: [{ ...http, when: 'AfterNode', timeout: '2m' }] })
    await failed.starts()
    const waiting = await cluster.nodeIs('cp1', 'Verifying', 'GateWaiting')
    expect(waiting.reason?.message).toContain('503')
    const rollout = await cluster.nodeIs('cp1', 'Failed', 'GateFailed')
    expect(rollout.reason?.message).toContain('not so within its timeout of 2m')
    await failed.fails()
    expect(cluster.isCordoned('cp1')).toBe(true)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 0 })
  })

  const passing = new PretendWeb()
  scenario('lets it go once it holds', { nodes: 2, web: passing }, async ({ cluster, update }) => {
    passing.answers('check.example', broken)
    const held = update.script('true', { gates: [{ ...http, when: 'AfterNode' }] })
    await cluster.nodeIs('cp1', 'Verifying', 'GateWaiting')
    expect(cluster.taken).toEqual(['cp1'])
    passing.answers('check.example', ok)
    await held.succeeds()
    expect(cluster.taken).toEqual([])
  })

  scenario('runs its Job once for each node', { nodes: 3 }, async ({ cluster, update, person }) => {
    await makesCronJob(person, 'smoke')
    await update.script('true', { gates: [{ type: 'Job', cronJob: 'smoke' }] }).succeeds()
    const made = cluster.sim.server.peekAll(jobs)
    const told = made.map(({ spec }) => environment(spec.template.spec.containers[0]).SLIPWAY_NODE)
    expect(told.sort()).toEqual(['cp1', 'w1', 'w2'])
  })
})

describe('a gate after a wave', () => {
  const web = new PretendWeb()
  scenario(
    'keeps workers from starting, and the update from ending',
    { nodes: 3, web },
    async ({ cluster, update }) => {
      web.answers('check.example', broken)
      const held = update.script('true', { gates: [{ ...http, when: 'AfterWave' }] })
      await held.hasDone(1)
      await held.is('InProgress', 'GateWaiting')
      expect(held.status.gates).toMatchObject([{ when: 'AfterWave', wave: 0 }])
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 0 })
      web.answers('check.example', ok)
      await held.hasDone(2)
      web.answers('check.example', broken)
      await held.hasDone(3)
      await cluster.pass(60_000)
      expect(held.status.phase).toBe('InProgress')
      expect(held.condition('Blocked')?.reason).toBe('GateWaiting')
      web.answers('check.example', ok)
      await held.succeeds()
    },
  )
})

describe('a Job that failed as a gate', () => {
  scenario('is run again from the CronJob that an edit names', { nodes: 2 }, async ({ cluster, update, person }) => {
    for (const name of ['smoke', 'smoke-mended']) await makesCronJob(person, name)
    let isBroken = true
    const { server, clock } = cluster.sim
    server.onCommit(({ kind, before, after }) => {
      if (kind !== 'Job' || before || !after || !isBroken) return
      const { name, namespace = '' } = after.metadata
      const status = { conditions: [{ type: 'Failed', status: 'True' }] }
      const fail = () =>
        server.patch('kubelet', jobs, { name, namespace }, { type: 'merge', body: { status } }, 'status')
      clock.after(1, fail)
    })
    const gate: GateSpec = { type: 'Job', cronJob: 'smoke', when: 'BeforeNode' }
    const held = await update.script('true', { gates: [gate] }).is('RequiresAttention', 'GateFailed')
    expect(held.condition('Blocked')?.message).toMatch(/look at its pod's log, and delete it to have it run again/)
    isBroken = false
    await held.isEdited({ gates: [{ ...gate, cronJob: 'smoke-mended' }] })
    await held.succeeds()
  })
})

describe('a gate while a wave soaks', () => {
  const web = new PretendWeb()
  const strategy = { waves: [{ size: 1, soak: '10m' }, { size: '100%' }] }
  scenario('must hold for the whole of it', { nodes: 4, web }, async ({ cluster, update }) => {
    web.answers('check.example', ok)
    const held = update.script('true', { strategy, gates: [{ ...http, when: 'Soak' }], nodeSelector: workers })
    await held.is('InProgress', 'WaveSoaking')
    await cluster.pass(300_000)
    web.answers('check.example', broken)
    await held.is('InProgress', 'GateWaiting')
    expect(held.status.wave?.soakUntil).toBeUndefined()
    expect(held.status.gates).toMatchObject([{ when: 'Soak', wave: 1, state: 'Waiting' }])
    await held.is('RequiresAttention', 'GateFailed')
    await cluster.pass(600_000)
    expect(Object.values(cluster.allRuns).filter((runs) => runs > 0)).toHaveLength(1)
    web.answers('check.example', ok)
    await held.is('InProgress', 'WaveSoaking')
    // The soak begins anew.
    await cluster.pass(590_000)
    expect(Object.values(cluster.allRuns).filter((runs) => runs > 0)).toHaveLength(1)
    await held.succeeds()
  })
})

describe('a gate after each wave of workers', () => {
  const web = new PretendWeb()
  scenario('that was passed is told of no more, whatever it says since', { nodes: 4, web }, async (story) => {
    const { cluster, update } = story
    web.answers('check.example', ok)
    const strategy = { waves: [{ size: 1 }, { size: '100%' }] }
    const gates: GateSpec[] = [{ ...http, when: 'AfterWave' }]
    const held = update.script('sleep 60', { strategy, gates, nodeSelector: workers })
    await cluster.until('the second wave has begun', () => held.status.wave?.index === 1)
    web.answers('check.example', broken)
    let told = 0
    for (let seconds = 0; seconds < 30; seconds++) {
      await cluster.pass(1_000)
      told += held.status.gates?.filter(({ wave }) => wave === 1).length ?? 0
    }
    expect(told).toBe(0)
  })

  scenario('is asked for each of them', { nodes: 4, web }, async ({ cluster, update }) => {
    web.answers('check.example', broken)
    const strategy = { waves: [{ size: 1 }, { size: 2 }, { size: '100%' }] }
    const gates: GateSpec[] = [{ ...http, when: 'AfterWave' }]
    const held = update.script('true', { strategy, gates, nodeSelector: workers })
    for (const wave of [1, 2, 3]) {
      await held.hasDone(wave)
      await held.is('InProgress', 'GateWaiting')
      expect(held.status.gates).toMatchObject([{ when: 'AfterWave', wave }])
      await cluster.pass(60_000)
      expect(Object.values(cluster.allRuns).filter((runs) => runs > 0)).toHaveLength(wave)
      web.answers('check.example', ok)
      if (wave < 3) await cluster.until('the next begins', () => held.status.wave?.index === wave)
      web.answers('check.example', wave < 3 ? broken : ok)
    }
    await held.succeeds()
  })
})

describe('a gate of the policy', () => {
  const web = new PretendWeb()
  scenario('holds for every update', { nodes: 2, web }, async (story) => {
    const { person, update, cluster } = story
    web.answers('check.example', broken)
    await person.setsPolicy({ gates: [http] })
    // The operator has seen it: nothing that starts later may miss it.
    await cluster.pass(1_000)
    const held = await update.script('true').is('InProgress', 'GateWaiting')
    untouched(story)
    web.answers('check.example', ok)
    await held.succeeds()
  })
})

describe('a gate that can never be told', () => {
  scenario('a broken expression is refused before anything starts', { nodes: 2 }, async (story) => {
    const gates: GateSpec[] = [{ name: 'ceph', type: 'Cel', expression: 'object.status.' }]
    const refused = await story.update.script('true', { gates }).is('Failed', 'GateInvalid')
    expect(refused.condition('Planned')).toMatchObject({ status: 'False', reason: 'GateInvalid' })
    expect(refused.condition('Planned')?.message).toMatch(
      /gate ceph: its expression "object.status." is broken: Expected/,
    )
    untouched(story)
  })

  scenario('nor does anything start by one of the policy, until it is corrected', { nodes: 2 }, async (story) => {
    const { person, update, cluster } = story
    await person.setsPolicy({ gates: [{ name: 'ceph', type: 'Cel', expression: 'object.status.' }] })
    await cluster.pass(1_000)
    const refused = await update.script('true').is('Pending', 'GateInvalid')
    expect(refused.condition('Planned')).toMatchObject({ status: 'False', reason: 'GateInvalid' })
    expect(refused.condition('Planned')?.message).toContain('MaintenancePolicy/default: gate ceph: its expression')
    await cluster.pass(600_000)
    untouched(story)
    await person.setsPolicy({ gates: [{ type: 'NodeReady' }] })
    await refused.succeeds()
  })

  const web = new PretendWeb()
  scenario('a query the server refuses fails at once', { nodes: 2, web }, async (story) => {
    const body = JSON.stringify({ status: 'error', errorType: 'bad_data', error: 'parse error: unexpected end' })
    web.answers('prometheus.example', { status: 400, body })
    const gates: GateSpec[] = [{ type: 'Prometheus', url: 'http://prometheus.example', query: 'sum(', max: 0 }]
    const held = await story.update.script('true', { gates }).is('RequiresAttention', 'GateFailed')
    expect(held.condition('Blocked')?.message).toContain(
      'Prometheus refuses the query (bad_data): parse error: unexpected end',
    )
    expect(story.cluster.sim.clock.monotonicMs()).toBeLessThan(120_000)
    untouched(story)
  })
})
