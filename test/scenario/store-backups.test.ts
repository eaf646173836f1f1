// Backups that belong to no update: by the schedule of a store, and because a person asked.

import { describe, expect } from 'vitest'
import type { BackupStoreSpec } from '../../src/api/backup.ts'
import { backupAnnotation, type StoreRecord } from '../../src/api/backup-plan.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import type { Reason } from '../../src/api/reason.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'

const minute = 60_000
const hour = 60 * minute
const hourly: BackupStoreSpec = { name: 'hourly', path: '/var/backups', schedule: { cron: '0 * * * *' } }
const full: Reason = { code: 'DiskTooFull', message: 'no space left on device' }

const record = ({ cluster }: Story, store = 'hourly'): StoreRecord | undefined =>
  cluster.sim.server
    .peek(maintenancePolicies, { name: policyName })
    ?.status?.backups?.find((entry) => entry.store === store)

/** Every backup that was ever made, by what it was for. */
function made(story: Story): readonly string[] {
  const seen: string[] = []
  story.cluster.sim.server.onCommit(() => {
    const { subject } = record(story)?.lastSuccess ?? {}
    if (subject !== undefined && seen.at(-1) !== subject) seen.push(subject)
  })
  return seen
}

const operators = ({ cluster }: Story) => cluster.sim.programs().filter(({ name }) => name.startsWith('operator/'))

async function asks({ person }: Story, request: string, more: object = {}): Promise<void> {
  await person.annotates(maintenancePolicies, policyName, { [backupAnnotation]: JSON.stringify({ request, ...more }) })
}

describe('a schedule', () => {
  scenario('makes a backup when it is due, and says when the next is', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    const all = made(story)
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.pass(minute)
    expect(record(story)).toEqual({ store: 'hourly', next: '2026-01-05T09:00:00.000Z' })
    await cluster.pass(2 * hour + 10 * minute)
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z', 'scheduled 2026-01-05T10:00:00.000Z'])
    expect(record(story)).toMatchObject({
      next: '2026-01-05T11:00:00.000Z',
      lastSuccess: { node: 'cp1', verified: 'Hash' },
    })
    expect(cluster.told('MaintenancePolicy', policyName)).toContain('BackupMade')
  })

  scenario('makes up once for all that nobody could make, and none is made twice', { nodes: 2 }, async (story) => {
    const { cluster, person, faults } = story
    const all = made(story)
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.pass(minute)
    // The operator and the only host that could make one are down.
    faults.keepAway('cp1')
    cluster.machine('cp1').agent?.crash()
    cluster.machine('cp1').losePowerFor(3 * hour + 30 * minute)
    await cluster.pass(3 * hour)
    expect(all).toEqual([])
    faults.letCome('cp1')
    await cluster.until('it is made', () => all.length > 0, 2 * hour)
    await cluster.pass(10 * minute)
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z'])
    expect(record(story)?.next).toBe('2026-01-05T12:00:00.000Z')
  })

  scenario('is followed by the next operator wherever one dies', { nodes: 3, operators: 2 }, async (story) => {
    const { cluster, person } = story
    const all = made(story)
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.pass(minute)
    await cluster.pass(Date.parse('2026-01-05T09:00:00Z') - cluster.sim.clock.nowMs())
    for (let kill = 0; kill < 10; kill++) {
      await cluster.pass(3_000)
      operators(story)[kill % 2]?.crash()
    }
    await cluster.until('it is made', () => all.length > 0)
    await cluster.pass(20 * minute)
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z'])
  })

  scenario('that is edited is followed from then on', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [{ ...hourly, schedule: { cron: '0 3 * * 0' } }] })
    await cluster.pass(minute)
    expect(record(story)?.next).toBe('2026-01-11T03:00:00.000Z')
    await person.setsPolicy({
      backupStores: [{ ...hourly, schedule: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } }],
    })
    await cluster.pass(minute)
    expect(record(story)?.next).toBe('2026-01-06T02:00:00.000Z')
    await person.setsPolicy({ backupStores: [] })
    await cluster.pass(minute)
    expect(record(story)).toBeUndefined()
  })

  scenario('that never comes is told of, and nothing is made', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [{ ...hourly, schedule: { cron: '30 2 30 2 *' } }] })
    await cluster.pass(minute)
    expect(cluster.told('MaintenancePolicy', policyName)).toContain('BackupScheduleInvalid')
    expect(record(story)).toBeUndefined()
  })

  const stores = { trouble: () => full }
  scenario('keeps the cause of a failure, and is due again', { nodes: 2, stores }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.until('it failed', () => record(story)?.lastFailure !== undefined, 2 * hour)
    expect(record(story)).toMatchObject({
      next: '2026-01-05T10:00:00.000Z',
      lastFailure: { reason: { code: 'BackupFailed', message: expect.stringContaining('no space left on device') } },
    })
    expect(record(story)?.run).toBeUndefined()
    await cluster.pass(minute)
    expect(cluster.told('MaintenancePolicy', policyName)).toContain('BackupFailed')
  })
})

describe('a store that leaves the policy', () => {
  scenario('is forgotten by the host that keeps its secrets, and may come back', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    const kept = () => cluster.state('cp1')?.status?.agent?.backupStore
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.until('it is made', () => kept() === 'hourly', 2 * hour)
    await person.setsPolicy({ backupStores: [{ ...hourly, retention: { count: 3 } }] })
    await cluster.pass(10 * minute)
    expect(cluster.state('cp1')?.spec.forgetStore).toBeUndefined()
    expect(kept()).toBe('hourly')
    await person.setsPolicy({ backupStores: [{ name: 'here', path: '/srv' }] })
    await cluster.until('it is forgotten', () => kept() === undefined)
    await cluster.until('nobody asks any more', () => cluster.state('cp1')?.spec.forgetStore === undefined)
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.until('it is made again', () => kept() === 'hourly', 2 * hour)
    await cluster.pass(10 * minute)
    expect(cluster.state('cp1')?.spec.forgetStore).toBeUndefined()
  })
})

describe('on demand', () => {
  scenario('a backup is made at once, and once', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    const all = made(story)
    await person.setsPolicy({ backupStores: [hourly, { name: 'here', path: '/srv' }] })
    await asks(story, 'r1', { store: 'here', verify: 'Restore' })
    await cluster.until('it is made', () => record(story, 'here')?.lastSuccess !== undefined)
    expect(record(story, 'here')).toMatchObject({
      asked: 'r1',
      lastSuccess: { subject: 'asked r1', verified: 'Restore' },
    })
    await asks(story, 'r2')
    await cluster.until('the default is made', () => all.length > 0)
    // The annotation stays; what comes later by schedule does not bring it back.
    await cluster.pass(2 * hour + 30 * minute)
    expect(all[0]).toBe('asked r2')
    expect(all.filter((subject) => subject.startsWith('asked'))).toHaveLength(1)
  })

  scenario('it waits for one that runs, and does not cost the schedule its turn', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    const all = made(story)
    await person.setsPolicy({ backupStores: [hourly] })
    await cluster.until('it runs', () => record(story)?.run?.node !== undefined, 2 * hour)
    await asks(story, 'r1')
    await cluster.until('both are made', () => all.length === 2)
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z', 'asked r1'])
    expect(record(story)?.next).toBe('2026-01-05T10:00:00.000Z')
  })

  scenario('it waits for the work on its only host, and is made after that', { nodes: 2 }, async (story) => {
    const { cluster, person, update } = story
    await person.setsPolicy({ backupStores: [hourly] })
    const work = await update.script('true').starts()
    await cluster.until('cp1 is under work', () => cluster.state('cp1')?.status?.rollout?.phase === 'Working')
    await asks(story, 'r1')
    await cluster.until('nobody can make it', () =>
      cluster.told('MaintenancePolicy', policyName).includes('BackupHostMissing'),
    )
    await work.succeeds()
    await cluster.pass(5 * minute)
    expect(record(story)?.lastSuccess?.subject).toBe('asked r1')
  })

  scenario('it does not wait for an update whose store has left the policy', { nodes: 2 }, async (story) => {
    const { cluster, person, update } = story
    await person.setsPolicy({ backupStores: [{ name: 'here', path: '/srv' }, hourly] })
    const it = update.kubernetes('v1.36.3', { backup: { store: 'here' } })
    await cluster.until('cp1 makes one', () => cluster.state('cp1')?.status?.agent?.backup?.state === 'Running')
    await it.isEdited({ desiredState: 'Paused' })
    await person.setsPolicy({ backupStores: [hourly] })
    await asks(story, 'r1')
    await cluster.until('it is made', () => record(story)?.lastSuccess?.subject === 'asked r1')
    expect(it.status.backupRun).toBeUndefined()
  })

  scenario('one that cannot be read is left alone', { nodes: 2 }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [hourly] })
    await person.annotates(maintenancePolicies, policyName, { [backupAnnotation]: 'now!' })
    await cluster.pass(10 * minute)
    expect(record(story)?.run).toBeUndefined()
    expect(record(story)?.lastSuccess).toBeUndefined()
  })
})

describe('beside an update whose gates are looked at', () => {
  const web = new PretendWeb()
  const gates: GateSpec[] = [{ type: 'Http', url: 'http://check.example/ready' }]
  const nineOClock = { windows: [{ cron: '0 9 * * *', duration: '2h' }], backupStores: [hourly] }

  scenario('a schedule that is due as the window opens leaves the host to it', { nodes: 2, web }, async (story) => {
    const { cluster, person, update } = story
    web.answers('check.example', ok)
    const all = made(story)
    await person.setsPolicy(nineOClock)
    const it = await update.kubernetes('v1.36.3', { gates }).is('InProgress', 'OutsideWindow')
    await cluster.until('it has its backup', () => it.status.backups !== undefined, 2 * hour)
    expect(all).toEqual([])
    await it.succeeds()
    await cluster.until('the schedule has its own', () => all.length > 0)
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z'])
  })

  scenario('a schedule waits a minute for them, and not for hours', { nodes: 2, web }, async (story) => {
    const { cluster, person, update } = story
    web.answers('check.example', broken)
    const all = made(story)
    await person.setsPolicy(nineOClock)
    const it = await update.kubernetes('v1.36.3', { gates }).is('InProgress', 'OutsideWindow')
    await cluster.until('the gate holds', () => it.condition('Blocked')?.reason === 'GateWaiting', 2 * hour)
    const since = cluster.sim.clock.nowMs()
    await cluster.until('the schedule is followed', () => record(story)?.run?.node !== undefined)
    expect(cluster.sim.clock.nowMs() - since).toBeGreaterThan(45_000)
    expect(cluster.sim.clock.nowMs() - since).toBeLessThan(75_000)
    web.answers('check.example', ok)
    await it.succeeds()
    expect(all).toEqual(['scheduled 2026-01-05T09:00:00.000Z'])
  })
})
