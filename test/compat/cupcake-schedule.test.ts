// ScheduledUpdates and UpdateSchedules of CUPCAKE, carried out.

import { describe, expect } from 'vitest'
import {
  type CupcakeScheduledUpdate,
  type CupcakeUpdateSchedule,
  cupcakeNodeMarks,
  cupcakeScheduledUpdates,
  cupcakeUpdateSchedules,
} from '../../src/api/cupcake.ts'
import { scheduledUpdates, updateSchedules } from '../../src/api/schedule.ts'
import { foreignMessage } from '../../src/operator/compat/decide-carry.ts'
import { scenario } from '../scenario/story.ts'
import type { StoryCluster } from '../scenario/story-cluster.ts'
import { hour, marks, ours, usual } from './cupcake-story.ts'
import { installForeign, manifest } from './manifest.ts'

const scheduled = ({ sim }: StoryCluster, name: string) =>
  sim.server.peek(cupcakeScheduledUpdates, { name }) as CupcakeScheduledUpdate | undefined
const schedule = ({ sim }: StoryCluster, name: string) =>
  sim.server.peek(cupcakeUpdateSchedules, { name }) as CupcakeUpdateSchedule | undefined

const sleepUntil = (cluster: StoryCluster, text: string) =>
  cluster.pass(Date.parse(`2026-01-${text}:00Z`) - cluster.sim.clock.nowMs())

describe('a ScheduledUpdate', () => {
  scenario('is carried out at its time, and followed', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    await person.creates(cupcakeScheduledUpdates, manifest(cupcakeScheduledUpdates, 'cupcake/tonight.yaml'))
    await sleepUntil(cluster, '05T08:59')
    expect(scheduled(cluster, 'tonight')?.status).toMatchObject({
      phase: 'Scheduled',
      scheduledFor: '2026-01-05T09:00:00.000Z',
    })
    expect(ours(cluster)).toEqual([])
    const phase = () => scheduled(cluster, 'tonight')?.status?.phase
    await cluster.until('it begins', () => phase() === 'Executing', hour)
    await cluster.until('it is done', () => phase() === 'Completed', hour)
    const { status } = scheduled(cluster, 'tonight') ?? {}
    expect(status).toMatchObject({ directUpdateName: ours(cluster)[0]?.metadata.name, executedAt: /./ })
    expect(marks(cluster, 'w1')[cupcakeNodeMarks.status]).toBe('completed')
    await person.changes(cupcakeScheduledUpdates, 'tonight', { spec: { scheduleAt: '2026-01-06T10:00:00Z' } })
    await cluster.until('an edit is too late', () =>
      /waits for the end/.test(scheduled(cluster, 'tonight')?.status?.message ?? ''),
    )
    await person.deletes(cupcakeScheduledUpdates, { name: 'tonight' })
    await cluster.until('ours goes with it', () => cluster.sim.server.peekAll(scheduledUpdates).length === 0)
  })
})

describe('an UpdateSchedule', () => {
  scenario('makes an update at its times, within its window', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    await person.creates(cupcakeUpdateSchedules, manifest(cupcakeUpdateSchedules, 'cupcake/nightly.yaml'))
    await cluster.until(
      'its time is known',
      () => schedule(cluster, 'nightly')?.status?.nextScheduledTime !== undefined,
    )
    expect(schedule(cluster, 'nightly')?.status).toEqual({ active: 0, nextScheduledTime: '2026-01-05T09:00:00.000Z' })
    await sleepUntil(cluster, '05T09:20')
    expect(schedule(cluster, 'nightly')?.status).toMatchObject({
      active: 1,
      lastScheduledTime: '2026-01-05T09:00:00.000Z',
      lastUpdateName: ours(cluster)[0]?.metadata.name,
    })
    expect(cluster.taken).toEqual([])
    await cluster.until('it is done', () => ours(cluster)[0]?.status?.phase === 'Succeeded', hour)
    expect(marks(cluster, 'w1')[cupcakeNodeMarks.components]).toBe('kubeadm,kubelet')
    await person.changes(cupcakeUpdateSchedules, 'nightly', { spec: { suspended: true, schedule: '@reboot' } })
    const said = () => schedule(cluster, 'nightly')?.metadata.annotations?.[foreignMessage]
    await cluster.until('its edit is refused', () => said()?.startsWith('its edit is not taken up') === true)
    await person.changes(cupcakeUpdateSchedules, 'nightly', { spec: { schedule: '@daily' } })
    await cluster.until('its edit is taken up', () => said() === undefined)
    await sleepUntil(cluster, '06T12:00')
    expect(ours(cluster)).toHaveLength(1)
    await person.deletes(cupcakeUpdateSchedules, { name: 'nightly' })
    await cluster.until('ours goes with it', () => cluster.sim.server.peekAll(updateSchedules).length === 0)
  })

  scenario('that names no time is told of in an annotation', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    await person.creates(cupcakeUpdateSchedules, {
      metadata: { name: 'odd' },
      spec: { schedule: '@reboot', updatePolicy: { targetVersionPattern: 'latest-patch' } },
    })
    const message = () => schedule(cluster, 'odd')?.metadata.annotations?.[foreignMessage]
    await cluster.until('it is refused', () => message() !== undefined)
    expect(message()).toContain('spec.schedule "@reboot"')
    await cluster.pass(1_000)
    expect(cluster.told('UpdateSchedule', 'odd')).toEqual(['ForeignRefused'])
  })
})
