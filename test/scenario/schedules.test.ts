import { describe, expect } from 'vitest'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { type ScheduledUpdate, scheduledUpdates, type UpdateSchedule, updateSchedules } from '../../src/api/schedule.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'
import { scriptOf } from './story-update.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const work = { spec: { script: scriptOf('true') } }

async function sleepUntil(cluster: StoryCluster, text: string): Promise<void> {
  await cluster.pass(Date.parse(`2026-01-${text}:00Z`) - cluster.sim.clock.nowMs())
}

const scheduled = ({ sim }: StoryCluster) => sim.server.peek(scheduledUpdates, { name: 'night' }) as ScheduledUpdate
const schedule = ({ sim }: StoryCluster) => sim.server.peek(updateSchedules, { name: 'weekly' }) as UpdateSchedule
const made = ({ sim }: StoryCluster) => sim.server.peekAll(directUpdates) as readonly DirectUpdate[]

/** Every DirectUpdate that was ever there, by name. */
function everMade({ sim }: StoryCluster): ReadonlySet<string> {
  const names = new Set<string>()
  sim.server.onCommit(() => {
    for (const { metadata } of sim.server.peekAll(directUpdates)) names.add(metadata.uid)
  })
  return names
}

async function plans({ person, update }: Story, at: string, more: Partial<ScheduledUpdate['spec']> = {}) {
  await update.keepScript('true')
  await person.creates(scheduledUpdates, { metadata: { name: 'night' }, spec: { at, template: work, ...more } })
}

async function repeats({ person, update }: Story, spec: Partial<UpdateSchedule['spec']> = {}) {
  await update.keepScript('true')
  const whole = { cron: '0 9 * * *', template: work, ...spec }
  await person.creates(updateSchedules, { metadata: { name: 'weekly' }, spec: whole })
}

describe('a schedule whose update cannot be made', () => {
  scenario('says why, holds up no other, and makes it when the way is free', { nodes: 2 }, async (story) => {
    const { cluster, person, update } = story
    const name = `weekly-${Math.floor(Date.parse('2026-01-05T09:00:00Z') / minute)}`
    await update.script('echo mine', { name }).succeeds()
    await repeats(story)
    await person.creates(updateSchedules, { metadata: { name: 'zzz' }, spec: { cron: '0 9 * * *', template: work } })
    await sleepUntil(cluster, '05T09:01')
    const accepted = () => schedule(cluster).status?.conditions?.find(({ type }) => type === 'Accepted')
    expect(accepted()).toMatchObject({
      status: 'False',
      reason: 'UpdateNotMade',
      message: expect.stringContaining(name),
    })
    expect(made(cluster).some(({ metadata }) => metadata.name.startsWith('zzz-'))).toBe(true)
    await person.deletes(directUpdates, { name })
    await cluster.until('it is made', () => schedule(cluster).status?.lastUpdate === name, 20 * minute)
    expect(accepted()?.status).toBe('True')
  })
})

const kubelets = (cluster: StoryCluster) =>
  new Set(cluster.names.map((name) => cluster.node(name)?.status?.nodeInfo?.kubeletVersion))

describe('an update at a given time', () => {
  scenario(
    'with a pinned version waits for its day and takes that one, and an edit the next',
    { nodes: 2 },
    async (story) => {
      const { cluster, person } = story
      const template = { spec: { kubernetes: { version: 'v1.35.5' } } }
      await person.creates(scheduledUpdates, {
        metadata: { name: 'night' },
        spec: { at: '2026-01-08T09:00:00Z', template },
      })
      await sleepUntil(cluster, '08T08:59')
      expect(kubelets(cluster)).toEqual(new Set(['v1.35.4']))
      await cluster.until('it is done', () => scheduled(cluster).status?.phase === 'Completed', hour)
      // v1.35.6 is on offer as well.
      expect(kubelets(cluster)).toEqual(new Set(['v1.35.5']))
      // As a tool that follows a repository writes it.
      const name = scheduled(cluster).status?.update ?? ''
      const body = { spec: { kubernetes: { version: 'v1.35.6' } } }
      cluster.sim.server.patch('person', directUpdates, { name }, { type: 'merge', body })
      await cluster.until('the edit is carried out', () => kubelets(cluster).has('v1.35.6'), hour)
      await cluster.until('everywhere', () => made(cluster)[0]?.status?.phase === 'Succeeded', hour)
      expect(kubelets(cluster)).toEqual(new Set(['v1.35.6']))
    },
  )

  scenario('is made then and followed to its end', { nodes: 2 }, async (story) => {
    const { cluster } = story
    await plans(story, '2026-01-05T10:00:00+01:00')
    await sleepUntil(cluster, '05T08:59')
    expect(scheduled(cluster).status).toMatchObject({ phase: 'Scheduled', at: '2026-01-05T09:00:00.000Z' })
    expect(made(cluster)).toEqual([])
    await cluster.until('it is made', () => scheduled(cluster).status?.phase === 'Executing', 2 * minute)
    await cluster.until('it is done', () => scheduled(cluster).status?.phase === 'Completed')
    expect(made(cluster).map(({ metadata }) => metadata.name)).toEqual([scheduled(cluster).status?.update])
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1 })
  })

  scenario('is made once, whenever the operator dies', { nodes: oneAnd(2), operators: 2 }, async (story) => {
    const { cluster } = story
    const ever = everMade(cluster)
    await plans(story, '2026-01-05T10:00:00', { timeZone: 'Europe/Berlin' })
    await sleepUntil(cluster, '05T09:00')
    for (let kill = 0; kill < 12; kill++) {
      for (const process of cluster.sim.programs()) process.crash()
      await cluster.pass(7_300)
    }
    await cluster.until('it is done', () => scheduled(cluster).status?.phase === 'Completed')
    expect(ever.size).toBe(1)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  scenario('is missed when nobody could start it in time', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await plans(story, '2026-01-05T06:00:00Z', { startBy: '30m' })
    await cluster.until('it is missed', () => scheduled(cluster).status?.phase === 'Missed')
    await cluster.pass(minute)
    expect(cluster.told('ScheduledUpdate', 'night')).toContain('Missed')
    expect(made(cluster)).toEqual([])
    await person.changes(scheduledUpdates, 'night', { spec: { at: '2026-01-05T12:00:00Z' } })
    await cluster.until('it is planned anew', () => scheduled(cluster).status?.phase === 'Scheduled')
    await cluster.until('it is done', () => scheduled(cluster).status?.phase === 'Completed', 5 * hour)
  })

  const namedOnly = { nodes: 2, crash: { victim: 'operator', after: 'patch ScheduledUpdate', nth: 2 } } as const
  scenario('is missed, too, when its name stands and nobody came to make it', namedOnly, async (story) => {
    const { cluster, faults, person } = story
    await plans(story, '2026-01-05T09:00:00Z')
    await cluster.until('it is named', () => scheduled(cluster).status?.update !== undefined, 2 * hour)
    expect(made(cluster)).toEqual([])
    faults.isApiAway = true
    await cluster.pass(3 * hour)
    faults.isApiAway = false
    await cluster.until('it is missed', () => scheduled(cluster).status?.phase === 'Missed')
    await cluster.pass(hour)
    expect(scheduled(cluster).status).not.toHaveProperty('update')
    expect(made(cluster)).toEqual([])
    await person.changes(scheduledUpdates, 'night', { spec: { at: '2026-01-05T20:00:00Z' } })
    await cluster.until('it is done', () => scheduled(cluster).status?.phase === 'Completed', day)
    expect(made(cluster)).toHaveLength(1)
  })

  scenario('is missed when the API server refuses it for too long', { nodes: 2 }, async (story) => {
    const { cluster, faults } = story
    faults.refuse('create', new KubeError('Forbidden', 'admission policy "no-nights"'), directUpdates)
    await plans(story, '2026-01-05T09:00:00Z', { startBy: '15m' })
    await sleepUntil(cluster, '05T09:14')
    const accepted = () => scheduled(cluster).status?.conditions?.find(({ type }) => type === 'Accepted')
    expect(accepted()).toMatchObject({ status: 'False', reason: 'UpdateNotMade' })
    await sleepUntil(cluster, '05T09:16')
    expect(scheduled(cluster).status).toMatchObject({ phase: 'Missed' })
    expect(scheduled(cluster).status).not.toHaveProperty('update')
    faults.allow('create')
    await cluster.pass(day)
    expect(made(cluster)).toEqual([])
    expect(cluster.told('ScheduledUpdate', 'night')).toEqual(['UpdateNotMade', 'Missed'])
  })

  scenario('may be put off and taken back before', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await plans(story, '2026-01-05T09:00:00Z')
    await cluster.pass(minute)
    await person.changes(scheduledUpdates, 'night', { spec: { at: '2026-01-05T11:00:00Z' } })
    await sleepUntil(cluster, '05T10:59')
    expect(made(cluster)).toEqual([])
    await person.deletes(scheduledUpdates, { name: 'night' })
    await sleepUntil(cluster, '05T12:00')
    expect(made(cluster)).toEqual([])
  })

  scenario('is cancelled with the update it made', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await plans(story, '2026-01-05T09:00:00Z')
    await sleepUntil(cluster, '05T09:00')
    await cluster.until('it is made', () => scheduled(cluster).status?.executedAt !== undefined)
    await person.deletes(directUpdates, { name: scheduled(cluster).status?.update ?? '' })
    await cluster.until('it is cancelled', () => scheduled(cluster).status?.phase === 'Cancelled')
    await cluster.pass(hour)
    expect(made(cluster)).toEqual([])
  })

  scenario('in a zone that is none is refused', { nodes: 2 }, async (story) => {
    const { cluster } = story
    await plans(story, '2026-01-05T09:00:00', { timeZone: 'Mars/Olympus' })
    const accepted = () => scheduled(cluster).status?.conditions?.find(({ type }) => type === 'Accepted')
    await cluster.until('it is refused', () => accepted()?.status === 'False')
    expect(accepted()).toMatchObject({ reason: 'ScheduleInvalid', message: /Mars\/Olympus/ })
  })
})

describe('an update again and again', () => {
  scenario('runs at each of its times, and keeps as many as it should', { nodes: 2 }, async (story) => {
    const { cluster } = story
    const ever = everMade(cluster)
    await repeats(story, { keep: 2 })
    await sleepUntil(cluster, '05T08:30')
    expect(schedule(cluster).status).toMatchObject({ active: 0, nextScheduled: '2026-01-05T09:00:00.000Z' })
    await sleepUntil(cluster, '09T12:00')
    expect(ever.size).toBe(5)
    expect(made(cluster).map(({ status }) => status?.phase)).toEqual(['Succeeded', 'Succeeded'])
    expect(schedule(cluster).status).toMatchObject({
      lastScheduled: '2026-01-09T09:00:00.000Z',
      nextScheduled: '2026-01-10T09:00:00.000Z',
      active: 0,
    })
  })

  scenario(
    'leaves a node that failed as it is, also when the run it failed for is old',
    { nodes: 4 },
    async (story) => {
      const { cluster, person } = story
      cluster.failing.add('w1')
      await repeats(story, { keep: 1, overlap: 'Replace' })
      await sleepUntil(cluster, '05T12:00')
      const [failed] = made(cluster)
      expect(failed?.status?.phase).toBe('Failed')
      await sleepUntil(cluster, '08T12:00')
      expect(cluster.isCordoned('w1')).toBe(true)
      expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed', update: failed?.metadata.name })
      expect(made(cluster).map(({ status }) => status?.phase)).toEqual(['Failed', 'Cancelled', 'InProgress'])
      cluster.failing.delete('w1')
      await person.changes(directUpdates, failed?.metadata.name ?? '', { spec: { retry: { token: 'mended' } } })
      await cluster.until('only the last is kept', () => made(cluster).length === 1, hour)
      expect(cluster.isCordoned('w1')).toBe(false)
    },
  )

  scenario('makes up for what was missed once, and not too late', { nodes: 2, operators: 1 }, async (story) => {
    const { cluster } = story
    const ever = everMade(cluster)
    await repeats(story, { startBy: '2h' })
    await sleepUntil(cluster, '05T08:30')
    const asleep = (ms: number) => {
      for (const process of cluster.sim.programs()) process.freeze(ms)
    }
    asleep(2 * day + 2 * hour)
    await sleepUntil(cluster, '07T11:30')
    expect(ever.size).toBe(1)
    expect(schedule(cluster).status).toMatchObject({ lastScheduled: '2026-01-07T09:00:00.000Z' })
    expect(cluster.told('UpdateSchedule', 'weekly')).toContain('Missed')
    asleep(day + 1.5 * hour)
    await sleepUntil(cluster, '08T15:00')
    expect(ever.size).toBe(1)
    await sleepUntil(cluster, '09T09:30')
    expect(ever.size).toBe(2)
  })

  scenario('waits for the one before, replaces it, or runs beside it', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ freezes: [{ from: '2026-01-05', to: '2026-01-06', reason: 'stocktaking' }] })
    await repeats(story, { cron: '0 * * * *', startBy: '10m' })
    await sleepUntil(cluster, '05T11:30')
    expect(made(cluster)).toHaveLength(1)
    await person.changes(updateSchedules, 'weekly', { spec: { overlap: 'Allow' } })
    await sleepUntil(cluster, '05T12:30')
    expect(made(cluster)).toHaveLength(2)
    await person.changes(updateSchedules, 'weekly', { spec: { overlap: 'Replace' } })
    await sleepUntil(cluster, '05T13:30')
    const phases = made(cluster).map(({ status }) => status?.phase)
    expect(phases.filter((phase) => phase === 'Cancelled')).toHaveLength(2)
    expect(phases.filter((phase) => phase === 'InProgress')).toHaveLength(1)
  })

  scenario('that replaces loses no run where the earlier one is long in ending', { nodes: 3 }, async (story) => {
    const { cluster, faults } = story
    await repeats(story, { cron: '0 9,10 * * *', startBy: '10m', overlap: 'Replace' })
    await sleepUntil(cluster, '05T09:00')
    await cluster.nodeIs('w1', 'Working')
    faults.keepAway('w1')
    await sleepUntil(cluster, '05T10:30')
    expect(made(cluster)).toMatchObject([{ spec: { desiredState: 'Cancelled' } }])
    expect(schedule(cluster).status).toMatchObject({ replacing: '2026-01-05T10:00:00.000Z', active: 1 })
    faults.letCome('w1')
    await cluster.until('the next is made', () => made(cluster).length === 2)
    await cluster.until('it is done', () => made(cluster)[1]?.status?.phase === 'Succeeded')
    expect(made(cluster)[0]?.status?.phase).toBe('Cancelled')
    expect(schedule(cluster).status).toMatchObject({ lastScheduled: '2026-01-05T10:00:00.000Z' })
    expect(schedule(cluster).status).not.toHaveProperty('replacing')
    expect(cluster.told('UpdateSchedule', 'weekly')).not.toContain('Missed')
  })

  scenario('stands still while it is suspended, and makes nothing up for that', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await repeats(story, { suspended: true, startBy: '20h' })
    await sleepUntil(cluster, '05T20:00')
    expect(made(cluster)).toEqual([])
    expect(schedule(cluster).status?.nextScheduled).toBeUndefined()
    await person.changes(updateSchedules, 'weekly', { spec: { suspended: false } })
    await cluster.pass(hour)
    expect(made(cluster)).toEqual([])
    expect(schedule(cluster).status?.nextScheduled).toBe('2026-01-06T09:00:00.000Z')
    await sleepUntil(cluster, '06T10:00')
    expect(made(cluster)).toHaveLength(1)
    await cluster.pass(day)
  })
})
