// Windows and schedules on a real API server, on the clock of this machine.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { configMaps, events } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { scheduledUpdates, updateSchedules } from '../../src/api/schedule.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const text = '#!/bin/sh\ntrue\n'
const script = { configMap: 'rotate', sha256: createHash('sha256').update(text).digest('hex') }
const template = { spec: { script } }
const patience = { timeout: 280_000, interval: 200 }
const hour = 3_600_000

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)

describe.skipIf(missing)('time on a real API server', () => {
  let rig: RolloutRig
  const slipway = (...args: readonly string[]) => runSlipway(['--kubeconfig', rig.server.kubeconfigPath, ...args])
  const setPolicy = (spec: object) =>
    rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)

  const desiredStates = async () =>
    (await rig.api.list(configMaps, { namespace }, signal)).items.filter(({ data }) =>
      data?.script?.includes('/etc/motd'),
    )

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.36.3' })
    await createScript(rig.api, 'rotate', text, signal)
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('outside of its windows an update waits, until a person lets it run', async () => {
    const now = Date.now()
    await vi.waitFor(
      () => setPolicy({ windows: [{ start: clock(now + 2 * hour), end: clock(now + 3 * hour) }] }),
      patience,
    )
    await rig.createUpdate('closed', { script })
    await vi.waitFor(async () => {
      const { status } = await rig.update('closed')
      const blocked = status?.conditions?.find(({ type }) => type === 'Blocked')
      expect(blocked).toMatchObject({ status: 'True', reason: 'OutsideWindow' })
    }, patience)
    await wait(3_000)
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual([])
    expect(await slipway('why', 'closed')).toMatchObject({
      out: expect.stringContaining('outside the maintenance windows'),
    })
    expect(await slipway('run-now', 'closed')).toMatchObject({ code: 2 })
    const askedMs = Date.now()
    expect(await slipway('run-now', 'closed', '--reason', 'CVE-2026-1234')).toMatchObject({ code: 0 })
    const answeredMs = Date.now()
    const { status } = await rig.ended('closed', 120_000)
    expect(status).toMatchObject({ phase: 'Succeeded', runNow: { reason: 'CVE-2026-1234', by: 'admin' } })
    const atMs = Date.parse(status?.runNow?.at ?? '')
    expect(atMs).toBeGreaterThanOrEqual(askedMs)
    expect(atMs).toBeLessThanOrEqual(answeredMs)
    await setPolicy({ windows: null })
  })

  test('an update at a given time is made once, though the leader dies, and its plan stands from then on', async () => {
    const name = 'tonight'
    const at = new Date(Date.now() + 8_000).toISOString()
    const object = { apiVersion: scheduledUpdates.apiVersion, kind: scheduledUpdates.kind, metadata: { name } }
    await rig.api.create(scheduledUpdates, { ...object, spec: { at, template } }, signal)
    const scheduled = () => rig.api.get(scheduledUpdates, { name }, signal)
    await vi.waitFor(async () => expect((await scheduled()).status).toMatchObject({ phase: 'Scheduled' }), patience)
    await (await rig.leader()).leader.process.kill()
    await vi.waitFor(async () => expect((await scheduled()).status).toMatchObject({ phase: 'Completed' }), patience)
    const { items } = await rig.api.list(directUpdates, {}, signal)
    const made = items.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ kind }) => kind === 'ScheduledUpdate'),
    )
    expect(made.map(({ metadata }) => metadata.name)).toEqual([(await scheduled()).status?.update])
    const later = { spec: { at: '2099-01-01T00:00:00Z' } }
    await expect(rig.api.patch(scheduledUpdates, { name }, { type: 'merge', body: later }, signal)).rejects.toThrow(
      /it is being carried out: change or cancel the DirectUpdate/,
    )
  })

  test('one that could not be made in time is missed, and may be planned anew', async () => {
    // Cut to the length of a label it ends in a dash, which is none.
    const name = `in-the-way-${'y'.repeat(51)}-long`
    const object = { apiVersion: scheduledUpdates.apiVersion, kind: scheduledUpdates.kind, metadata: { name } }
    const at = new Date(Date.now() + 5_000).toISOString()
    const { metadata } = await rig.api.create(
      scheduledUpdates,
      { ...object, spec: { at, startBy: '5s', template } },
      signal,
    )
    const other = { name: `${name}-${metadata.uid.slice(0, 8)}` }
    await rig.createUpdate(other.name, { script })
    const scheduled = () => rig.api.get(scheduledUpdates, { name }, signal)
    await vi.waitFor(async () => expect((await scheduled()).status).toMatchObject({ phase: 'Missed' }), patience)
    expect((await scheduled()).status).not.toHaveProperty('update')
    await rig.api.delete(directUpdates, other, {}, signal)
    const find = () => rig.api.get(directUpdates, other, signal)
    await vi.waitFor(() => expect(find()).rejects.toMatchObject({ code: 'NotFound' }), patience)
    const anew = { spec: { at: new Date().toISOString(), startBy: '1h' } }
    await rig.api.patch(scheduledUpdates, { name }, { type: 'merge', body: anew }, signal)
    await vi.waitFor(async () => expect((await scheduled()).status).toMatchObject({ phase: 'Completed' }), patience)
  })

  test('an update again and again is made at its minute, and goes with its schedule', async () => {
    const name = 'minutely'
    const object = { apiVersion: updateSchedules.apiVersion, kind: updateSchedules.kind, metadata: { name } }
    await rig.api.create(updateSchedules, { ...object, spec: { cron: '* * * * *', template } }, signal)
    const schedule = () => rig.api.get(updateSchedules, { name }, signal)
    // What a profile leaves behind is cleared away while the tests wait for their time.
    const wanted = { files: [{ path: '/etc/motd', content: 'hello' }] }
    await rig.api.create(
      nodeProfiles,
      { apiVersion: nodeProfiles.apiVersion, kind: nodeProfiles.kind, metadata: { name: 'motd' }, spec: wanted },
      signal,
    )
    for (const node of ['cp1', 'w1', 'w2']) {
      await vi.waitFor(async () => expect(await rig.files(node).read('/etc/motd')).toBe('hello'), patience)
    }
    expect(await desiredStates()).not.toEqual([])
    await rig.api.delete(nodeProfiles, { name: 'motd' }, {}, signal)
    await rig.createUpdate('told', {
      script,
      windows: [{ start: clock(Date.now() + 2 * hour), end: clock(Date.now() + 3 * hour) }],
    })
    // The same is told by one Event, with how often.
    for (const desiredState of ['Paused', 'Running', 'Paused', 'Running'] as const) {
      await rig.api.patch(directUpdates, { name: 'told' }, { type: 'merge', body: { spec: { desiredState } } }, signal)
      const isPaused = desiredState === 'Paused'
      await vi.waitFor(
        async () => expect((await rig.update('told')).status?.phase === 'Paused').toBe(isPaused),
        patience,
      )
    }
    await vi.waitFor(async () => expect((await schedule()).status?.lastUpdate).toBeDefined(), patience)
    const { status } = await schedule()
    const lastUpdate = status?.lastUpdate ?? ''
    expect(Date.parse(status?.nextScheduled ?? '') - Date.parse(status?.lastScheduled ?? '')).toBe(60_000)
    await rig.ended(lastUpdate, 120_000)
    await rig.api.delete(updateSchedules, { name }, {}, signal)
    const find = () => rig.api.get(directUpdates, { name: lastUpdate }, signal)
    await vi.waitFor(() => expect(find()).rejects.toMatchObject({ code: 'NotFound' }), patience)
  })

  test('times that cannot be read are refused with the reason', async () => {
    const object = { apiVersion: updateSchedules.apiVersion, kind: updateSchedules.kind, metadata: { name: 'never' } }
    await rig.api.create(updateSchedules, { ...object, spec: { cron: '30 2 30 2 *', template } }, signal)
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(updateSchedules, { name: 'never' }, signal)
      expect(status?.conditions).toMatchObject([
        {
          type: 'Accepted',
          status: 'False',
          reason: 'ScheduleInvalid',
          message: expect.stringContaining('never fires'),
        },
      ])
    }, patience)
  })

  test('what was told twice is one Event, and the desired state of a profile goes with it', async () => {
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(events, { namespace: 'default' }, signal)
      expect(items.filter(({ reason }) => reason === 'Paused')).toMatchObject([{ series: { count: 2 } }])
      expect(await desiredStates()).toEqual([])
    }, patience)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'schedules')
  })
})
