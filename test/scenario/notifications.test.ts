// Receivers are told at least once, in order, and never hold anything up.

import { describe, expect } from 'vitest'
import { secrets } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { maxReceivers } from '../../src/api/notification.ts'
import { scheduledUpdates } from '../../src/api/schedule.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { WebAnswer } from '../../src/ports/web.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'
import { scriptOf } from './story-update.ts'

const hour = 3_600_000
const day = 24 * hour
const host = 'hooks'
const receiver = { name: 'ops', webhook: { url: `http://${host}/in/t0ken` } }

const kinds = (web: PretendWeb) => web.asked(host).map(({ body }) => JSON.parse(body ?? '{}').kind)
const keys = (web: PretendWeb) => web.asked(host).map(({ headers }) => headers?.['idempotency-key'])
const record = ({ cluster }: Story) =>
  cluster.sim.server.peek(maintenancePolicies, { name: policyName })?.status?.notifications?.[0]
const events = ({ cluster }: Story) => cluster.told('MaintenancePolicy', policyName)

describe('a receiver', () => {
  const web = new PretendWeb()
  scenario('is told of the start, a failed node and the end, once each', { nodes: oneAnd(2), web }, async (story) => {
    const { cluster, update, person } = story
    web.answers(host, ok)
    await person.setsPolicy({ notifications: [receiver] })
    await cluster.pass(5_000)
    cluster.failing.add('w2')
    await update.script('true').fails()
    await cluster.pass(60_000)
    expect(kinds(web)).toEqual(['Started', 'NodeFailed', 'Failed'])
    expect(new Set(keys(web)).size).toBe(3)
    const [, node] = web.asked(host)
    expect(JSON.parse(node?.body ?? '')).toMatchObject({ node: 'w2', code: 'StepFailed', update: 'update' })
    expect(record(story)?.told).toHaveLength(3)
  })

  const chosen = new PretendWeb()
  scenario('is told only what it asked for, as Slack wants it', { nodes: oneAnd(1), web: chosen }, async (story) => {
    const { cluster, update, person } = story
    chosen.answers(host, ok)
    const webhook = { ...receiver.webhook, format: 'Slack' as const }
    await person.setsPolicy({ notifications: [{ name: 'ops', webhook, on: ['Finished'] }] })
    await cluster.pass(5_000)
    await update.script('true').succeeds()
    await cluster.pass(30_000)
    expect(chosen.asked(host).map(({ body }) => JSON.parse(body ?? '{}'))).toEqual([
      { text: expect.stringMatching(/^✔ \*Finished\* \(Succeeded\): update update: all 2\/2 nodes are done/) },
    ])
  })

  const soaking = new PretendWeb()
  scenario(
    'hears that an approval is wanted after a soak of hours',
    { nodes: oneAnd(2), web: soaking },
    async (story) => {
      const { cluster, update, person } = story
      soaking.answers(host, ok)
      await person.setsPolicy({ notifications: [{ ...receiver, on: ['ApprovalWanted'] }] })
      await cluster.pass(5_000)
      const waves = [{ size: 1, soak: '2h', promotion: 'Manual' as const }, { size: '100%' as const }]
      const running = update.script('true', { strategy: { waves } })
      await running.is('InProgress', 'WaveSoaking')
      expect(kinds(soaking)).toEqual([])
      await cluster.until('it is wanted', () => running.status.wave?.promotion === 'Wanted', 3 * hour)
      await cluster.pass(30_000)
      expect(kinds(soaking)).toEqual(['ApprovalWanted'])
      for (const process of cluster.sim.programs()) process.crash()
      await cluster.pass(2 * hour)
      expect(kinds(soaking)).toEqual(['ApprovalWanted'])
    },
  )

  const absent = new PretendWeb()
  scenario('hears what was missed while no operator was there', { nodes: oneAnd(1), web: absent }, async (story) => {
    const { cluster, update, person, faults } = story
    absent.answers(host, ok)
    await person.setsPolicy({ notifications: [{ ...receiver, on: ['ScheduleMissed'] }] })
    await update.keepScript('true')
    const at = new Date(cluster.sim.clock.nowMs() + day).toISOString()
    const template = { spec: { script: scriptOf('true') } }
    await person.creates(scheduledUpdates, { metadata: { name: 'night' }, spec: { at, template } })
    await cluster.pass(day - 60_000)
    faults.isApiAway = true
    await cluster.pass(3 * hour)
    faults.isApiAway = false
    await cluster.pass(10 * 60_000)
    expect(kinds(absent)).toEqual(['ScheduleMissed'])
    for (const process of cluster.sim.programs()) process.crash()
    await cluster.pass(2 * hour)
    expect(kinds(absent)).toEqual(['ScheduleMissed'])
  })

  const crashed = new PretendWeb()
  scenario(
    'hears of the end though the operator dies as it writes it',
    { nodes: oneAnd(1), web: crashed, operators: 2 },
    async (story) => {
      const { cluster, update, person } = story
      crashed.answers(host, ok)
      await person.setsPolicy({ notifications: [receiver] })
      await cluster.pass(5_000)
      const running = update.script('true')
      await cluster.until('its end is written', () => running.status.phase === 'Succeeded')
      for (const process of cluster.sim.programs()) process.crash()
      await cluster.pass(120_000)
      expect(kinds(crashed)).toContain('Finished')
    },
  )

  const flaky = new PretendWeb()
  scenario('that is down for a while hears of it later', { nodes: oneAnd(1), web: flaky }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ notifications: [receiver] })
    await cluster.pass(5_000)
    await update.script('true').succeeds()
    flaky.answers(host, { status: 500, body: 'not now' })
    await cluster.pass(5_000)
    flaky.answers(host, ok)
    await cluster.pass(180_000)
    expect(kinds(flaky).slice(-2)).toEqual(['Started', 'Finished'])
    expect(events(story)).not.toContain('NotificationFailed')
  })

  const slow = new PretendWeb()
  scenario(
    'hears at once, though every other one takes its time or never answers, and the update does not wait',
    { nodes: oneAnd(1), web: slow },
    async (story) => {
      const { cluster, update, person } = story
      const { clock } = cluster.sim
      const others = Array.from({ length: maxReceivers - 1 }, (_, at) => `slow-${at}`)
      for (const [at, name] of others.entries()) {
        slow.answers(name, ({ timeoutMs = Infinity }) => {
          const { promise, resolve, reject } = Promise.withResolvers<WebAnswer>()
          const cause = Object.assign(new Error('too late'), { name: 'TimeoutError' })
          if (at % 2 === 0) clock.after(timeoutMs, () => reject(new SlipwayError('CannotReach', 'too late', { cause })))
          else clock.after(timeoutMs - 1, () => resolve(ok))
          return promise
        })
      }
      const heard: number[] = []
      slow.answers(host, async () => {
        heard.push(clock.nowMs())
        return ok
      })
      const receivers = others.map((name) => ({ name, webhook: { url: `http://${name}/` } }))
      await person.setsPolicy({ notifications: [...receivers, receiver] })
      await cluster.pass(5_000)
      const began = clock.nowMs()
      await update.script('true').succeeds()
      const ended = clock.nowMs()
      await cluster.pass(10_000)
      expect(kinds(slow)).toEqual(['Started', 'Finished'])
      expect((heard[0] ?? Infinity) - began).toBeLessThan(5_000)
      expect((heard[1] ?? Infinity) - ended).toBeLessThan(5_000)
      await cluster.pass(600_000)
      expect(slow.asked('slow-1').map(({ body }) => JSON.parse(body ?? '{}').kind)).toEqual(['Started', 'Finished'])
      expect(events(story)).toContain('NotificationFailed')
    },
  )

  const gone = new PretendWeb()
  scenario(
    'that says it is gone is not asked again for that news, and nothing waits for it',
    { nodes: oneAnd(1), web: gone },
    async (story) => {
      const { cluster, update, person } = story
      gone.answers(host, { status: 410, body: 'gone' })
      await person.setsPolicy({ notifications: [receiver] })
      await cluster.pass(5_000)
      await update.script('true').succeeds()
      await cluster.pass(300_000)
      expect(kinds(gone)).toEqual(['Started', 'Finished'])
      expect(record(story)?.lastFailure?.reason).toMatchObject({
        code: 'NotificationFailed',
        message: expect.stringContaining('answered 410'),
      })
      expect(events(story)).toContain('NotificationFailed')
      expect(JSON.stringify(cluster.sim.server.save())).not.toContain('answered 410: gone')
    },
  )

  const secret = new PretendWeb()
  scenario(
    'whose address and signing key are secrets: they stand nowhere but in their Secret',
    { nodes: oneAnd(1), web: secret },
    async (story) => {
      const { cluster, update, person } = story
      const url = Buffer.from(`http://${host}/services/T0P5ECRET`).toString('base64')
      const key = Buffer.from('5IGNINGKEY').toString('base64')
      await person.creates(secrets, { metadata: { name: 'slack', namespace: operatorNamespace }, data: { url, key } })
      const webhook = { urlSecret: { name: 'slack', key: 'url' }, signingSecret: { name: 'slack', key: 'key' } }
      await person.setsPolicy({ notifications: [{ name: 'ops', webhook }] })
      await cluster.pass(5_000)
      await update.script('true').succeeds()
      await cluster.pass(600_000)
      expect(secret.asked(host)[0]?.url).toContain('T0P5ECRET')
      expect(secret.asked(host)[0]?.signing?.secret).toBe('5IGNINGKEY')
      expect(events(story)).toContain('NotificationFailed')
      const others = cluster.sim.server.save().filter(({ kind }) => kind !== 'Secret')
      expect(JSON.stringify(others)).not.toMatch(/T0P5ECRET|5IGNINGKEY/)
    },
  )
})
