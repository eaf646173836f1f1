// When resources of CUPCAKE are carried out: times that have passed, times no cron of ours knows, half a window.

import { describe, expect } from 'vitest'
import {
  type CupcakeScheduledUpdate,
  type CupcakeUpdateSchedule,
  cupcakeScheduledUpdates,
  cupcakeUpdateSchedules,
} from '../../src/api/cupcake.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { foreignMessage } from '../../src/operator/compat/decide-carry.ts'
import { type Story, scenario } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign } from './manifest.ts'

const hour = 3_600_000
const usual = { nodes: oneAnd(1) }

const scheduled = ({ cluster }: Story) =>
  (cluster.sim.server.peek(cupcakeScheduledUpdates, { name: 'once' }) as CupcakeScheduledUpdate | undefined)?.status
const schedule = ({ cluster }: Story) =>
  cluster.sim.server.peek(cupcakeUpdateSchedules, { name: 'often' }) as CupcakeUpdateSchedule | undefined
const ours = ({ cluster }: Story) => cluster.sim.server.peekAll(directUpdates) as readonly DirectUpdate[]

const asksOnce = ({ person }: Story, scheduleAt: string) =>
  person.creates(cupcakeScheduledUpdates, {
    metadata: { name: 'once' },
    spec: { targetVersion: '1.36.3', scheduleAt },
  })
const asksOften = ({ person }: Story, spec: object) =>
  person.creates(cupcakeUpdateSchedules, {
    metadata: { name: 'often' },
    spec: { updatePolicy: { targetVersionPattern: '1.36.3' }, ...spec },
  })

describe('a ScheduledUpdate', () => {
  scenario('whose time had passed when it was made starts at once', usual, async (story) => {
    const { cluster } = story
    await installForeign(story)
    await asksOnce(story, '2020-01-01T00:00:00Z')
    await cluster.until('it is done', () => scheduled(story)?.phase === 'Completed', hour)
    expect(scheduled(story)?.message).toContain('scheduleAt had passed')
    expect(ours(story)).toHaveLength(1)
  })

  scenario('that nobody could carry out for hours is carried out late', usual, async (story) => {
    const { cluster } = story
    await asksOnce(story, '2026-01-05T09:00:00Z')
    await cluster.pass(9 * hour)
    await installForeign(story)
    await cluster.until('it is done', () => scheduled(story)?.phase === 'Completed', hour)
  })

  scenario('that was left over from long ago is not, and may be put off', usual, async (story) => {
    const { cluster, person } = story
    await asksOnce(story, '2026-01-05T09:00:00Z')
    await cluster.pass(8 * 24 * hour)
    await installForeign(story)
    await cluster.until('it is missed', () => scheduled(story)?.phase === 'Failed')
    expect(scheduled(story)?.message).toContain('set spec.scheduleAt anew')
    expect(ours(story)).toEqual([])
    const scheduleAt = new Date(cluster.sim.clock.nowMs() + hour).toISOString()
    await person.changes(cupcakeScheduledUpdates, 'once', { spec: { scheduleAt } })
    await cluster.until('it waits again', () => scheduled(story)?.phase === 'Scheduled')
    await cluster.until('it is done', () => scheduled(story)?.phase === 'Completed', 3 * hour)
  })
})

describe('an UpdateSchedule', () => {
  scenario('of every seven hours counts from the run before', usual, async (story) => {
    const { cluster } = story
    await installForeign(story)
    await asksOften(story, { schedule: '@every 7h' })
    const madeMs = cluster.sim.clock.nowMs()
    const at = () => Date.parse(schedule(story)?.status?.lastScheduledTime ?? '')
    await cluster.until('the first is made', () => ours(story).length === 1, 8 * hour)
    await cluster.until('it is told', () => !Number.isNaN(at()))
    expect(Math.abs(at() - madeMs - 7 * hour)).toBeLessThan(10_000)
    const first = at()
    await cluster.until('the second is made', () => ours(story).length === 2, 8 * hour)
    await cluster.until('it is told, too', () => at() !== first)
    expect(at() - first).toBe(7 * hour)
    expect(schedule(story)?.metadata.annotations).not.toHaveProperty([foreignMessage])
  })

  scenario('of six fields with half a window keeps to both, and says how it read them', usual, async (story) => {
    const { cluster } = story
    await installForeign(story)
    await asksOften(story, { schedule: '0 0 9 * * *', maintenanceWindow: { start: '11:00' } })
    await cluster.until('it is planned', () => schedule(story)?.status?.nextScheduledTime !== undefined)
    expect(schedule(story)?.status?.nextScheduledTime).toBe('2026-01-05T09:00:00.000Z')
    expect(schedule(story)?.metadata.annotations?.[foreignMessage]).toContain('without end it closes at 24:00')
    await cluster.pass(1_000)
    expect(cluster.told('UpdateSchedule', 'often')).toEqual(['Made', 'ForeignNoted'])
    await cluster.until('one is made', () => ours(story).length === 1, 3 * hour)
    await cluster.pass(Date.parse('2026-01-05T10:59:00Z') - cluster.sim.clock.nowMs())
    expect(cluster.taken).toEqual([])
    await cluster.until('it is done', () => ours(story)[0]?.status?.phase === 'Succeeded', hour)
  })
})
