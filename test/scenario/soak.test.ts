import { describe, expect } from 'vitest'
import type { GateSpec } from '../../src/api/gate.ts'
import { cronJobs } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { shop } from './story-person.ts'
import type { StoryUpdate } from './story-update.ts'

const workers = {
  matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
}
const strategy = { waves: [{ size: 1, soak: '10m' }, { size: '100%' }] }
const http: GateSpec = { name: 'errors', type: 'Http', url: 'http://shop.example/', when: 'Soak', timeout: '2m' }

/** Dead for so long, whoever starts it again. */
async function operatorIsAway({ cluster }: Story, untilMs: number): Promise<void> {
  while (cluster.sim.clock.now().getTime() < untilMs) {
    for (const process of cluster.sim.programs()) process.crash()
    await cluster.pass(500)
  }
}

describe('a soak that ends while no operator is there', () => {
  const web = new PretendWeb()
  scenario('does not end well while its gate does not hold', { nodes: 4, web }, async (story) => {
    const { cluster, update } = story
    web.answers('shop.example', ok)
    const held = await update
      .script('true', { gates: [http], strategy, nodeSelector: workers })
      .is('InProgress', 'WaveSoaking')
    await cluster.pass(30_000)
    web.answers('shop.example', broken)
    await operatorIsAway(story, Date.parse(held.status.wave?.soakUntil ?? ''))
    await held.is('RequiresAttention', 'GateFailed')
    expect(held.condition('Blocked')?.message).toContain('shop.example answered 503')
    expect(held.status.wave).toMatchObject({ index: 0 })
    expect(Object.values(cluster.allRuns).filter((runs) => runs > 0)).toHaveLength(1)
    web.answers('shop.example', ok)
    await held.is('InProgress', 'WaveSoaking')
    await cluster.pass(590_000)
    expect(held.status.wave).toMatchObject({ index: 0 })
    await held.succeeds()
  })

  const last = new PretendWeb()
  scenario('is looked at after the last wave, too', { nodes: 2, web: last }, async (story) => {
    const { update } = story
    last.answers('shop.example', ok)
    const once = { waves: [{ size: '100%', soak: '5m' }] }
    const held = await update
      .script('true', { gates: [http], strategy: once, nodeSelector: workers })
      .is('InProgress', 'WaveSoaking')
    last.answers('shop.example', broken)
    await operatorIsAway(story, Date.parse(held.status.wave?.soakUntil ?? ''))
    await held.is('RequiresAttention', 'GateFailed')
    last.answers('shop.example', ok)
    await held.succeeds()
  })
})

describe('a soak whose wave is not done any more', () => {
  /** The next wave has not begun before the node had been looked at for the whole of it. */
  async function isSoakedWhole({ cluster }: Story, held: StoryUpdate, doneAtMs: number): Promise<void> {
    await cluster.until('the next wave begins', () => held.status.wave?.index === 1, 1_200_000)
    expect(cluster.sim.clock.now().getTime() - doneAtMs).toBeGreaterThan(590_000)
    await held.is('Succeeded')
  }

  scenario('begins anew for the canary that took the place of one that is gone', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const held = await update.script('true', { strategy, nodeSelector: workers }).is('InProgress', 'WaveSoaking')
    await cluster.pass(570_000)
    await person.deletesNode('w1')
    await cluster.until('the next one is done', () => held.status.summary?.done === 1 && cluster.runs('w2') === 1)
    await isSoakedWhole(story, held, cluster.sim.clock.now().getTime())
  })

  scenario('begins anew for a node that is tried again', { nodes: 5 }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w2')
    const two = { waves: [{ size: 2, soak: '10m' }, { size: '100%' }], maxFailures: 1 }
    const held = await update.script('true', { strategy: two, nodeSelector: workers }).is('InProgress', 'WaveSoaking')
    await cluster.pass(570_000)
    cluster.failing.delete('w2')
    await held.isRetried('again')
    await cluster.until('it is done', () => held.status.summary?.done === 2)
    await isSoakedWhole(story, held, cluster.sim.clock.now().getTime())
  })
})

describe('a soak that is edited while the wave soaks', () => {
  const edited = (soak?: string) => ({ waves: [{ size: 1, ...(soak !== undefined && { soak }) }, { size: '100%' }] })

  scenario('lasts as long as the edit says', { nodes: 4 }, async ({ cluster, update }) => {
    const held = await update.script('true', { strategy, nodeSelector: workers }).is('InProgress', 'WaveSoaking')
    const soakUntil = Date.parse(held.status.wave?.soakUntil ?? '')
    await held.isEdited({ strategy: edited('1h') })
    await cluster.pass(3_000_000)
    expect(held.status.wave).toMatchObject({ index: 0, soakUntil: new Date(soakUntil + 3_000_000).toISOString() })
    await cluster.until('the next wave begins', () => held.status.wave?.index === 1, 700_000)
    await held.succeeds()
  })

  for (const [said, soak] of [
    ['is shorter', '1m'],
    ['is none', undefined],
  ] as const) {
    scenario(`ends at once where the edit says that it ${said}`, { nodes: 4 }, async ({ cluster, update }) => {
      const held = await update.script('true', { strategy, nodeSelector: workers }).is('InProgress', 'WaveSoaking')
      await cluster.pass(120_000)
      await held.isEdited({ strategy: edited(soak) })
      await cluster.until('the next wave begins', () => held.status.wave?.index === 1, 10_000)
      await held.succeeds()
    })
  }
})

describe('a soak whose gate is seldom looked at', () => {
  const web = new PretendWeb()
  scenario('does not end by what was seen at its beginning', { nodes: 4, web }, async ({ cluster, update }) => {
    web.answers('shop.example', ok)
    const held = await update
      .script('true', { gates: [{ ...http, every: '1h' }], strategy, nodeSelector: workers })
      .is('InProgress', 'WaveSoaking')
    await cluster.pass(300_000)
    web.answers('shop.example', broken)
    await cluster.until('the soak is broken off', () => held.status.wave?.soakUntil === undefined)
    expect(held.status.wave).toMatchObject({ index: 0 })
    expect(held.condition('Blocked')).toMatchObject({ reason: 'GateWaiting' })
  })

  const calm = new PretendWeb()
  scenario('ends when one more look finds it holds', { nodes: 4, web: calm }, async ({ cluster, update }) => {
    calm.answers('shop.example', ok)
    const held = await update
      .script('true', { gates: [{ ...http, every: '1h' }], strategy, nodeSelector: workers })
      .is('InProgress', 'WaveSoaking')
    const soakUntil = Date.parse(held.status.wave?.soakUntil ?? '')
    await cluster.until('the next wave begins', () => held.status.wave?.index === 1, 700_000)
    expect(cluster.sim.clock.now().getTime() - soakUntil).toBeLessThan(5_000)
    await held.succeeds()
  })
})

describe('a soak during which the operator is killed', () => {
  const web = new PretendWeb()
  const pods: GateSpec = { type: 'PodsReady', namespace: shop, selector: { matchLabels: { app: 'web' } }, when: 'Soak' }
  for (const gate of [http, pods, { type: 'Job', cronJob: 'smoke', when: 'Soak' } satisfies GateSpec]) {
    scenario(`does not begin anew by that: ${gate.type}`, { nodes: 4, web }, async ({ cluster, update, person }) => {
      web.answers('shop.example', ok)
      await person.deploys({ name: 'web', replicas: 2 })
      const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }] } }
      await person.creates(cronJobs, {
        metadata: { name: 'smoke', namespace: operatorNamespace },
        spec: { schedule: '@yearly', suspend: true, jobTemplate: { spec: { backoffLimit: 0, template } } },
      })
      await cluster.pass(10_000)
      const held = await update
        .script('true', { gates: [gate], strategy, nodeSelector: workers })
        .is('InProgress', 'WaveSoaking')
      const soakUntil = held.status.wave?.soakUntil ?? ''
      for (let crash = 0; crash < 3; crash++) {
        await cluster.pass(60_000)
        for (const process of cluster.sim.programs()) process.crash()
        await cluster.pass(60_000)
        expect(held.status.wave?.soakUntil).toBe(soakUntil)
      }
      await cluster.until('the next wave begins', () => held.status.wave?.index === 1, 300_000)
      expect(cluster.sim.clock.now().getTime() - Date.parse(soakUntil)).toBeLessThan(5_000)
      await held.succeeds()
    })
  }
})
