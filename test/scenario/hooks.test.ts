import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { type Container, cronJobs, type Job, jobs } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import type { Person } from './story-person.ts'

type Hooks = NonNullable<DirectUpdateSpec['hooks']>

const http = (path: string) => ({ http: { url: `http://hooks.example/${path}` } })
const job = (cronJob: string) => ({ job: { cronJob } })

async function makesCronJobs(person: Person, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }] } }
    const spec = { schedule: '@yearly', suspend: true, jobTemplate: { spec: { backoffLimit: 0, template } } }
    const metadata = { name, namespace: operatorNamespace }
    await person.creates(cronJobs, { metadata, spec: withPurpose(spec, name) })
  }
}

/** Each Job shows of which CronJob it was made. */
function withPurpose<T extends { readonly jobTemplate: object }>(spec: T, cronJob: string): T {
  return { ...spec, jobTemplate: { ...spec.jobTemplate, metadata: { labels: { made: cronJob } } } }
}

/** `CRONJOB NODE` of each Job that was made. */
function ran(cluster: StoryCluster): readonly string[] {
  return (cluster.sim.server.peekAll(jobs) as readonly Job[])
    .map(
      ({ metadata, spec }) => `${metadata.labels?.made} ${environment(spec.template.spec.containers[0]).SLIPWAY_NODE}`,
    )
    .sort()
}

function environment(container: Container | undefined): Readonly<Record<string, string>> {
  const entries = container?.env as readonly { readonly name: string; readonly value: string }[]
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]))
}

/** What a server that knows its keys has done: each key once. */
function told(web: PretendWeb): readonly string[] {
  const calls = new Map(
    web.asked('hooks.example').map(({ url, headers, body }) => {
      const { node, cleanup } = JSON.parse(body ?? '{}')
      const words = [new URL(url).pathname.slice(1), ...(node ? [node] : []), ...(cleanup ? ['cleanup'] : [])]
      return [headers?.['idempotency-key'], words.join(' ')]
    }),
  )
  return [...calls.values()]
}

function crashOperators({ cluster }: Story): void {
  for (const process of cluster.sim.programs()) process.crash()
}

describe('hooks of a node', () => {
  const noout: Hooks = [{ name: 'noout', when: 'BeforeNode', ...job('set'), cleanup: job('unset') }]

  scenario('run before it is touched, and are cleaned up after', { nodes: 3 }, async ({ cluster, update, person }) => {
    await makesCronJobs(person, 'set', 'unset')
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('cp1', 'Pending')
    await cluster.until('the hook runs', () => ran(cluster).length > 0)
    expect(ran(cluster)).toEqual(['set cp1'])
    expect(cluster.isCordoned('cp1')).toBe(false)
    await running.succeeds()
    expect(ran(cluster)).toEqual(['set cp1', 'set w1', 'set w2', 'unset cp1', 'unset w1', 'unset w2'])
    expect(cluster.state('w1')?.spec.hooks).toMatchObject([{ state: 'Succeeded', cleanup: { state: 'Succeeded' } }])
    expect(cluster.state('w1')?.metadata.finalizers).toBeUndefined()
  })

  scenario('give back a slot that nobody begins with before it is back', { nodes: 2 }, async (story) => {
    const { cluster, update, person, faults } = story
    await makesCronJobs(person, 'set', 'unset')
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('cp1', 'Pending')
    await cluster.until('the hook runs', () => ran(cluster).length > 0)
    await running.isEdited({ desiredState: 'Paused' })
    faults.refuse('patch', new KubeError('ServerError', 'etcd is slow', { status: 500 }), maintenancePolicies)
    const isCleanedUp = () => cluster.state('cp1')?.spec.hooks?.[0]?.cleanup?.state === 'Succeeded'
    await cluster.until('it is cleaned up', isCleanedUp)
    await cluster.pass(20_000)
    await running.isEdited({ desiredState: 'Running' })
    await cluster.pass(20_000)
    expect(ran(cluster)).toEqual(['set cp1', 'unset cp1'])
    expect(cluster.isCordoned('cp1')).toBe(false)
    faults.allow('patch')
    await running.succeeds()
    expect(ran(cluster)).toEqual(['set cp1', 'set cp1', 'set w1', 'unset cp1', 'unset cp1', 'unset w1'])
  })

  scenario('run once, however often the operator is killed', { nodes: 2 }, async (story) => {
    const { cluster, update, person } = story
    await makesCronJobs(person, 'set', 'unset')
    const running = update.script('true', { hooks: noout })
    for (const what of ['set cp1', 'unset cp1', 'set w1', 'unset w1']) {
      await cluster.until(what, () => ran(cluster).includes(what))
      crashOperators(story)
      await cluster.pass(1_000)
      crashOperators(story)
    }
    await running.succeeds()
    expect(ran(cluster)).toEqual(['set cp1', 'set w1', 'unset cp1', 'unset w1'])
  })

  scenario('are cleaned up when the node fails', { nodes: 3 }, async ({ cluster, update, person }) => {
    await makesCronJobs(person, 'set', 'unset')
    cluster.failing.add('cp1')
    const failed = await update.script('false', { hooks: noout }).fails()
    await cluster.until('it is cleaned up', () => cluster.state('cp1')?.spec.hooks?.[0]?.cleanup?.state === 'Succeeded')
    expect(ran(cluster)).toEqual(['set cp1', 'unset cp1'])
    expect(cluster.isCordoned('cp1')).toBe(true)
    await failed.isDeleted()
    await failed.isGone()
    expect(ran(cluster)).toEqual(['set cp1', 'unset cp1'])
  })

  scenario('are cleaned up when the update is deleted, and not before they ended', { nodes: 2 }, async (story) => {
    const { cluster, update, person } = story
    await makesCronJobs(person, 'set', 'unset')
    const running = update.script('true', { hooks: noout })
    await cluster.until('the hook runs', () => ran(cluster).length === 1)
    await running.isDeleted()
    await cluster.pass(5_000)
    expect(ran(cluster)).toEqual(['set cp1'])
    await running.isGone()
    expect(ran(cluster)).toEqual(['set cp1', 'unset cp1'])
    expect(cluster.isCordoned('cp1')).toBe(false)
    expect(cluster.runs('cp1')).toBe(0)
  })

  scenario('are cleaned up when the node is deleted', { nodes: 3 }, async ({ cluster, update, person }) => {
    await makesCronJobs(person, 'set', 'unset')
    const running = update.script('true', { hooks: noout })
    await running.hasDone(1)
    await cluster.nodeIs('w1', 'Working')
    cluster.machine('w1').losePower()
    await person.deletesNode('w1')
    await cluster.until('it is cleaned up', () => ran(cluster).includes('unset w1'))
    await cluster.until('its NodeState is gone', () => cluster.state('w1') === undefined)
    await running.succeeds()
    expect(ran(cluster).filter((entry) => entry.endsWith('w1'))).toEqual(['set w1', 'unset w1'])
  })

  const again = new PretendWeb()
  scenario('run again when the node is tried again', { nodes: 2, web: again }, async ({ cluster, update }) => {
    again.answers('hooks.example', ok)
    const hooks: Hooks = [{ name: 'out', when: 'BeforeNode', ...http('out'), cleanup: http('in') }]
    cluster.failing.add('cp1')
    const failed = await update.script('false', { hooks }).fails()
    await cluster.until('it is cleaned up', () => told(again).length === 2)
    cluster.failing.delete('cp1')
    await failed.isEdited({ retry: { token: '1' } })
    await failed.succeeds()
    expect(again.asked('hooks.example').map(({ url }) => new URL(url).pathname)).toEqual([
      ...['/out', '/in', '/out', '/in'],
      ...['/out', '/in'],
    ])
    expect(cluster.runs('cp1')).toBe(2)
  })

  const cancelled = new PretendWeb()
  scenario('are cleaned up when the update is cancelled', { nodes: 2, web: cancelled }, async ({ cluster, update }) => {
    cancelled.answers('hooks.example', ok)
    const hooks: Hooks = [
      { name: 'start', when: 'BeforeUpdate', ...http('start'), cleanup: http('end') },
      { name: 'out', when: 'BeforeNode', ...http('out'), cleanup: http('in') },
    ]
    const running = await update.script('true', { hooks }).starts()
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    await cluster.until('all is cleaned up', () => told(cancelled).includes('end cleanup'))
    expect(told(cancelled)).toEqual(['start', 'out cp1', 'in cp1 cleanup', 'end cleanup'])
    expect(cluster.taken).toEqual([])
  })

  const refusing = new PretendWeb()
  scenario('refuse it: it is not touched', { nodes: 3, web: refusing }, async ({ cluster, update }) => {
    refusing.answers('hooks.example', { status: 409, body: 'not this one' })
    const hooks: Hooks = [{ name: 'ask', when: 'BeforeNode', ...http('ask') }]
    const failed = await update.script('true', { hooks }).fails()
    expect(failed.condition('Failed')?.message).toContain('1 failed (cp1) and wait for a person')
    const rollout = cluster.state('cp1')?.status?.rollout
    expect(rollout?.reason).toMatchObject({ code: 'HookFailed' })
    expect(rollout?.reason?.message).toContain('hook ask failed: http://hooks.example/ask answered 409: not this one')
    expect(cluster.taken).toEqual([])
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0 })
    await cluster.until('it is told', () => cluster.told('Node', 'cp1').includes('HookFailed'))
  })

  const flaky = new PretendWeb()
  scenario('are told again under the same key until they are heard', { nodes: 2, web: flaky }, async (story) => {
    const { cluster, update } = story
    let calls = 0
    flaky.answers('hooks.example', async () => (++calls % 3 === 0 ? ok : broken))
    const hooks: Hooks = [
      { name: 'out', when: 'BeforeNode', ...http('out') },
      { name: 'in', when: 'AfterNode', ...http('in'), cleanup: http('tidy') },
    ]
    const running = update.script('true', { hooks })
    await cluster.until('it was told', () => calls > 0)
    crashOperators(story)
    await running.succeeds()
    expect(told(flaky)).toEqual(['out cp1', 'in cp1', 'tidy cp1 cleanup', 'out w1', 'in w1', 'tidy w1 cleanup'])
    expect(flaky.requests.length).toBeGreaterThan(6)
  })

  const slow = new PretendWeb()
  scenario('are cleaned up before the next node begins', { nodes: 4, web: slow }, async ({ cluster, update }) => {
    let tidying = 0
    slow.answers('hooks.example', async ({ url }) => (url.endsWith('/unset') && ++tidying % 8 !== 0 ? broken : ok))
    const hooks: Hooks = [{ name: 'noout', when: 'BeforeNode', ...http('set'), cleanup: http('unset'), timeout: '1h' }]
    const seen: number[] = []
    cluster.sim.server.onCommit(() => seen.push(cluster.ledger.grants.length))
    await update.script('true', { hooks }).succeeds()
    expect(told(slow)).toEqual(['cp1', 'w1', 'w2', 'w3'].flatMap((node) => [`set ${node}`, `unset ${node} cleanup`]))
    expect(Math.max(...seen)).toBe(1)
  })

  const ignoring = new PretendWeb()
  scenario('may fail where they say so; a clean-up that fails is told', { nodes: 1, web: ignoring }, async (story) => {
    const { cluster, update } = story
    ignoring.answers('hooks.example', { status: 400, body: 'no' })
    const hooks: Hooks = [
      { name: 'ask', when: 'BeforeNode', ...http('ask'), onFailure: 'Continue', cleanup: http('undo') },
    ]
    await update.script('true', { hooks }).succeeds()
    expect(cluster.state('cp1')?.spec.hooks).toMatchObject([{ state: 'Ignored', cleanup: { state: 'Failed' } }])
    await cluster.until('both are told', () =>
      ['HookFailed', 'CleanupFailed'].every((reason) => cluster.told('Node', 'cp1').includes(reason)),
    )
    expect(told(ignoring)).toEqual(['ask cp1', 'undo cp1 cleanup'])
  })
})

describe('hooks of an update and its waves', () => {
  const all: Hooks = [
    { name: 'start', when: 'BeforeUpdate', ...http('start'), cleanup: http('end') },
    { name: 'wave', when: 'BeforeWave', ...http('wave'), cleanup: http('wave-over') },
    { name: 'node', when: 'BeforeNode', ...http('node') },
    { name: 'after-wave', when: 'AfterWave', ...http('after-wave') },
    { name: 'after', when: 'AfterUpdate', ...http('after') },
  ]

  const web = new PretendWeb()
  scenario('run in their order, each once', { nodes: 3, web }, async (story) => {
    const { update, cluster } = story
    web.answers('hooks.example', ok)
    const running = await update.script('true', { hooks: all }).hasDone(1)
    crashOperators(story)
    await running.succeeds()
    await cluster.until('all is cleaned up', () => told(web).includes('end cleanup'))
    expect(told(web)).toEqual([
      'start',
      'wave',
      'node cp1',
      'after-wave',
      'wave-over cleanup',
      'wave',
      'node w1',
      'node w2',
      'after-wave',
      'wave-over cleanup',
      'after',
      'end cleanup',
    ])
  })

  const refusing = new PretendWeb()
  scenario('keep an update from starting; deleting it cleans up', { nodes: 2, web: refusing }, async (story) => {
    const { update, cluster } = story
    refusing.answers('hooks.example', async ({ url }) => (url.endsWith('/start') ? { status: 400, body: 'no' } : ok))
    const held = await update.script('true', { hooks: all }).is('RequiresAttention', 'HookFailed')
    expect(held.condition('Blocked')?.message).toContain('hook start failed')
    expect(cluster.taken).toEqual([])
    await held.isDeleted()
    await held.isGone()
    expect(told(refusing)).toEqual(['start', 'end cleanup'])
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0 })
  })

  const mended = new PretendWeb()
  scenario('run again when a person says so, and are cleaned up once', { nodes: 2, web: mended }, async (story) => {
    const { update, cluster } = story
    const refuses =
      (path: string) =>
      async ({ url }: { readonly url: string }) =>
        url.endsWith(path) ? { status: 400, body: 'no' } : ok
    mended.answers('hooks.example', refuses('/start'))
    const held = await update.script('true', { hooks: all }).is('RequiresAttention', 'HookFailed')
    // A word that was there before, or that is for some nodes, is not for this.
    expect(held.condition('Stalled')?.message).toContain('hook start failed')
    expect(held.condition('Stalled')?.message).toContain('slipway retry update')
    await held.isRetried('a', ['w1'])
    await cluster.pass(60_000)
    expect(told(mended)).toEqual(['start'])
    await held.isRetried('b')
    await cluster.until('it failed again', () => told(mended).length === 2 && held.status.phase === 'RequiresAttention')
    await cluster.pass(60_000)
    crashOperators(story)
    mended.answers('hooks.example', refuses('/after-wave'))
    await held.isRetried('c')
    await cluster.until('the wave’s own fails', () => told(mended).includes('after-wave'))
    await held.is('RequiresAttention', 'HookFailed')
    mended.answers('hooks.example', ok)
    await held.isRetried('d')
    await held.succeeds()
    await cluster.until('all is cleaned up', () => told(mended).includes('end cleanup'))
    const count = (what: string) => told(mended).filter((line) => line === what).length
    expect([count('start'), count('after-wave'), count('end cleanup')]).toEqual([3, 3, 1])
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1 })
  })

  const soaking = new PretendWeb()
  scenario('of a wave run once, also while it soaks', { nodes: 4, web: soaking }, async ({ update, cluster }) => {
    soaking.answers('hooks.example', ok)
    const hooks: Hooks = [{ name: 'wave', when: 'BeforeWave', ...http('wave'), cleanup: http('wave-over') }]
    const strategy = { waves: [{ size: 1, soak: '3m' }, { size: '100%' as const }] }
    await update.script('true', { hooks, strategy }).succeeds()
    await cluster.pass(60_000)
    expect(told(soaking)).toEqual(Array(3).fill(['wave', 'wave-over cleanup']).flat())
  })

  const several = new PretendWeb()
  scenario('of a wave run in turn, each once a wave', { nodes: 4, web: several }, async ({ update, cluster }) => {
    several.answers('hooks.example', ok)
    const hooks: Hooks = [
      { name: 'freeze', when: 'BeforeWave', ...http('freeze'), cleanup: http('thaw') },
      { name: 'silence', when: 'BeforeWave', ...http('silence'), cleanup: http('speak') },
      { name: 'look', when: 'AfterWave', ...http('look'), cleanup: http('look-away') },
      { name: 'tell', when: 'AfterWave', ...http('tell') },
    ]
    const strategy = {
      waves: [
        { size: 1, soak: '3m' },
        { size: '100%' as const, soak: '1m' },
      ],
    }
    await update.script('true', { hooks, strategy }).succeeds()
    await cluster.pass(60_000)
    const wave = ['freeze', 'silence', 'look', 'tell', 'look-away cleanup', 'speak cleanup', 'thaw cleanup']
    // The control plane, and two waves of workers.
    expect(told(several)).toEqual([...wave, ...wave, ...wave])
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  const afresh = new PretendWeb()
  scenario('of a wave that failed are in force for the rest of it', { nodes: 4, web: afresh }, async (story) => {
    const { update, cluster } = story
    afresh.answers('hooks.example', ok)
    const hooks: Hooks = [{ name: 'wave', when: 'BeforeWave', ...http('wave'), cleanup: http('wave-over') }]
    cluster.failing.add('w2')
    const failed = await update.script('true', { hooks }).fails()
    await cluster.until('it is cleaned up', () => told(afresh).length === 4)
    cluster.failing.clear()
    await failed.isRetried('again')
    await failed.succeeds()
    await cluster.pass(60_000)
    // The control plane; the workers up to the one that failed; that one and the rest.
    expect(told(afresh)).toEqual(Array(3).fill(['wave', 'wave-over cleanup']).flat())
  })

  const late = new PretendWeb()
  scenario('fail when nobody hears them in time', { nodes: 1, web: late }, async ({ update, cluster }) => {
    late.answers('hooks.example', 'unreachable')
    const hooks: Hooks = [{ name: 'start', when: 'BeforeUpdate', ...http('start'), timeout: '90s' }]
    const held = await update.script('true', { hooks }).is('RequiresAttention', 'HookFailed')
    expect(held.condition('Blocked')?.message).toContain('connection refused')
    expect(cluster.sim.clock.monotonicMs()).toBeGreaterThan(90_000)
    // Without that hook there is nothing to wait for.
    await held.isEdited({ hooks: [] })
    await held.succeeds()
  })
})
