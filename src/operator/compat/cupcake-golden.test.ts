// Golden pairs: a resource of CUPCAKE, and what it is for us.

import { describe, expect, it } from 'vitest'
import { checkNames } from '../../api/preflight.ts'
import { bundleMapOf, translateDirectUpdate } from './cupcake-direct-update.ts'
import { scheduledStatusOf, translateScheduledUpdate } from './cupcake-scheduled-update.ts'
import { scheduleStatusOf, translateUpdateSchedule } from './cupcake-update-schedule.ts'
import { durationOf } from './cupcake-work.ts'

const bundle = { url: 'https://mirror.example/bundle.tar', sha256: 'a'.repeat(64) }
const usual = { nodeTimeout: '30m', operationTimeout: '2h' }
const rolling = { type: 'Rolling', maxUnavailable: 1 }
const usualWork = {
  kubernetes: { version: 'v1.36.3', workers: 'EachStep', components: ['kubeadm', 'kubelet', 'kubectl'] },
  strategy: rolling,
}

describe('a DirectUpdate', () => {
  const pairs: readonly { what: string; theirs: object; ours: object; notes?: readonly unknown[] }[] = [
    { what: 'with nothing but a version', theirs: { targetVersion: '1.36.3' }, ours: { ...usualWork, ...usual } },
    {
      what: 'with every field',
      theirs: {
        targetVersion: 'v1.36.3',
        components: ['kubeadm', 'kubelet', 'containerd', 'etcd', 'kubelet'],
        strategy: 'parallel',
        concurrency: 4,
        canary: { enabled: false, nodes: ['w1'] },
        nodeSelector: { pool: 'a', 'node-role.kubernetes.io/worker': '' },
        preflightChecks: false,
        airGapped: { enabled: true, bundleConfigMap: 'bundle' },
        dryRun: true,
        operationTimeout: '1.5h',
        nodeTimeout: '45m',
      },
      ours: {
        kubernetes: {
          version: 'v1.36.3',
          workers: 'EachStep',
          components: ['kubeadm', 'kubelet', 'containerd', 'etcd'],
        },
        strategy: { type: 'Parallel', maxUnavailable: 4 },
        nodeSelector: { matchLabels: { pool: 'a', 'node-role.kubernetes.io/worker': '' } },
        preflight: {
          skip: checkNames.filter((name) => !['Agents', 'VersionPath', 'PackageVersion', 'VersionSkew'].includes(name)),
        },
        airGapped: { bundle },
        dryRun: true,
        operationTimeout: '1h30m',
        nodeTimeout: '45m',
      },
    },
    {
      what: 'with canaries',
      theirs: { targetVersion: '1.36.3', strategy: 'canary', concurrency: 2, canary: { nodes: ['w7', 'w2', 'w7'] } },
      ours: {
        ...usualWork,
        ...usual,
        strategy: {
          type: 'Canary',
          maxUnavailable: 2,
          waves: [{ size: 2 }, { size: '100%' }],
          first: ['w7', 'w2'],
        },
      },
    },
    {
      what: 'whose canaries are not named',
      theirs: { targetVersion: '1.36.3', canary: { enabled: true } },
      ours: {
        ...usualWork,
        ...usual,
        strategy: { type: 'Canary', maxUnavailable: 1, waves: [{ size: 1 }, { size: '100%' }] },
      },
    },
    {
      what: 'with what we do not know',
      theirs: {
        targetVersion: '1.36.3',
        components: [],
        canary: { enabled: true, nodes: ['Not A Node', 'w1'] },
        operationTimeout: 'soon',
        nodeTimeout: '0s',
        concurrency: 1_000_000,
      },
      ours: {
        kubernetes: { version: 'v1.36.3', workers: 'EachStep' },
        strategy: { type: 'Canary', maxUnavailable: 100_000, waves: [{ size: 1 }, { size: '100%' }], first: ['w1'] },
        ...usual,
      },
      notes: [
        expect.stringContaining('Not A Node'),
        expect.stringContaining('nodeTimeout: "0s"'),
        expect.stringContaining('operationTimeout: "soon"'),
      ],
    },
  ]

  it.each(pairs)('$what', ({ theirs, ours, notes = [] }) => {
    expect(translateDirectUpdate({ spec: theirs }, 'airGapped' in theirs ? bundle : undefined)).toEqual({
      spec: ours,
      notes,
    })
  })

  it.each<[string, object | undefined, string]>([
    ['no spec at all', undefined, 'spec.targetVersion'],
    ['no version', { targetVersion: 'newest and best' }, 'spec.targetVersion must be'],
    ['a label that none is', { targetVersion: '1.36.3', nodeSelector: { '': 'a' } }, 'spec.nodeSelector'],
  ])('is refused with %s', (_what, spec, says) => {
    expect(translateDirectUpdate({ spec }, undefined)).toEqual({ refusal: expect.stringContaining(says) })
  })

  it('is refused without its bundle', () => {
    const spec = { targetVersion: '1.36.3', airGapped: { enabled: true, bundleConfigMap: 'bundle' } }
    expect(bundleMapOf({ spec })).toBe('bundle')
    expect(bundleMapOf({ spec: { ...spec, airGapped: { bundleConfigMap: 'bundle' } } })).toBeUndefined()
    expect(translateDirectUpdate({ spec }, { problem: 'no ConfigMap bundle' })).toEqual({
      refusal: 'no ConfigMap bundle',
      waits: true,
    })
  })
})

it.each([
  ['2h', '2h'],
  ['90m', '1h30m'],
  ['1.5h', '1h30m'],
  ['1d', '24h'],
  ['1h2m3s', '1h2m3s'],
  ['100ms', '1s'],
  ['1000000h', '99999h'],
  ['', undefined],
  ['0m', undefined],
  ['2 h', undefined],
  ['2h or so', undefined],
])('the duration %s is %s', (text, ours) => {
  expect(durationOf(text)).toBe(ours)
})

describe('a ScheduledUpdate', () => {
  const metadata = { creationTimestamp: '2026-11-01T00:00:00Z' }

  it('is one of ours with the same time', () => {
    const spec = {
      targetVersion: '1.36.3',
      scheduleAt: '2026-12-01t22:00:00.1234567891z',
      components: ['kubeadm', 'kubelet', 'kubectl', 'kube-proxy'],
      concurrency: 3,
    }
    expect(translateScheduledUpdate({ spec, metadata }, undefined)).toEqual({
      spec: {
        ...{ at: '2026-12-01T22:00:00.123456789Z', startBy: '168h' },
        template: { spec: { ...usualWork, strategy: { ...rolling, maxUnavailable: 3 } } },
      },
      notes: [expect.stringContaining('kube-proxy')],
    })
  })

  it('whose time had passed when it was made starts at once', () => {
    const spec = { targetVersion: '1.36.3', scheduleAt: '1999-12-31T22:00:00+01:00' }
    expect(translateScheduledUpdate({ spec, metadata }, undefined)).toMatchObject({
      spec: { at: metadata.creationTimestamp },
      notes: [expect.stringContaining('starts at once')],
    })
  })

  it('tells how ours stands', () => {
    const at = '2026-12-01T22:00:00.000Z'
    expect(scheduledStatusOf({ status: { phase: 'Scheduled', at } }, [])).toEqual({
      phase: 'Scheduled',
      scheduledFor: at,
      message: `waits for ${at}`,
    })
    expect(
      scheduledStatusOf({ status: { phase: 'Completed', at, executedAt: at, update: 'night-1' } }, ['a note']),
    ).toEqual({
      phase: 'Completed',
      scheduledFor: at,
      executedAt: at,
      directUpdateName: 'night-1',
      message: 'DirectUpdate night-1 of slipway.dev says how it goes; a note',
    })
    expect(scheduledStatusOf({ status: { phase: 'Missed', at } }, [])).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('set spec.scheduleAt anew'),
    })
  })
})

describe('an UpdateSchedule', () => {
  const policy = { targetVersionPattern: '1.36.3' }

  it('is one of ours, its window in the template', () => {
    const spec = {
      schedule: '0 2 1 * *',
      updatePolicy: { ...policy, strategy: 'parallel', concurrency: 2, preflightChecks: true },
      suspended: true,
      maintenanceWindow: { start: '2:00', end: '06:00', timezone: 'Europe/Berlin' },
    }
    expect(translateUpdateSchedule({ spec })).toEqual({
      spec: {
        cron: '0 2 1 * *',
        timeZone: 'Europe/Berlin',
        suspended: true,
        template: {
          spec: {
            kubernetes: { version: 'v1.36.3', workers: 'EachStep', components: ['kubeadm', 'kubelet'] },
            strategy: { type: 'Parallel', maxUnavailable: 2 },
            windows: [{ start: '02:00', end: '06:00', timeZone: 'Europe/Berlin' }],
          },
        },
      },
      notes: [],
    })
  })

  it.each([
    ['@every 7h', '@every 7h'],
    ['@every 1h30m', '@every 1h30m'],
    ['@Every  0.5h', '@every 30m'],
    ['@daily', '@daily'],
    ['0 */6 * * MON', '0 */6 * * MON'],
    ['0 30 2 * * 6', '30 2 * * 6'],
    ['00 0 2 ? * 6 *', '0 2 ? * 6'],
  ])('%s is %s', (schedule, cron) => {
    expect(translateUpdateSchedule({ spec: { schedule, updatePolicy: policy } })).toMatchObject({
      spec: { cron },
      notes: [],
    })
  })

  it.each([
    ['@every 100ms', '@every 1m', 'so it is 1m'],
    ['*/10 0 2 * * 6', '0 2 * * 6', 'seconds are left out'],
  ])('%s is %s, and that is said', (schedule, cron, says) => {
    expect(translateUpdateSchedule({ spec: { schedule, updatePolicy: policy } })).toMatchObject({
      spec: { cron },
      notes: [expect.stringContaining(says)],
    })
  })

  it.each([
    [{ start: '22:00' }, { start: '22:00', end: '24:00' }, ['without end it closes at 24:00']],
    [{ end: '4:00' }, { start: '00:00', end: '04:00' }, ['without start it opens at 00:00']],
    [{ end: '00:00' }, { start: '00:00', end: '24:00' }, ['without start it opens at 00:00']],
    [{ start: '24:00', end: '04:00' }, { start: '00:00', end: '04:00' }, []],
  ])('the window %j is %j', (maintenanceWindow, window, says) => {
    const spec = { schedule: '@daily', updatePolicy: policy, maintenanceWindow }
    expect(translateUpdateSchedule({ spec })).toMatchObject({
      spec: { template: { spec: { windows: [{ ...window, timeZone: 'UTC' }] } } },
      notes: says.map((words) => `maintenanceWindow: ${words}`),
    })
  })

  it.each<[string, object, string]>([
    ['@reboot', { schedule: '@reboot' }, 'spec.schedule "@reboot"'],
    ['no length of time', { schedule: '@every now and then' }, 'spec.schedule "@every now and then"'],
    ['a certain year', { schedule: '0 0 2 1 * * 2030' }, 'is for the year 2030 only'],
    ['a second that is none', { schedule: 'x 0 2 1 * *' }, 'begins with "x"'],
    ['eight fields', { schedule: '0 0 2 1 * * * *' }, 'has 8 fields'],
    ['a window that is none', { maintenanceWindow: { start: '22:00', end: '22:00' } }, 'spec.maintenanceWindow opens'],
    ['another planet', { maintenanceWindow: { timezone: 'Mars/Olympus' } }, 'Mars/Olympus'],
    ['no version', { updatePolicy: { targetVersionPattern: '' } }, 'spec.updatePolicy.targetVersionPattern'],
  ])('is refused with %s', (_what, part, says) => {
    const spec = { schedule: '0 2 1 * *', updatePolicy: policy, ...part }
    expect(translateUpdateSchedule({ spec })).toEqual({ refusal: expect.stringContaining(says) })
  })

  it('tells what ours made', () => {
    const [last, next] = ['2026-12-01T01:00:00.000Z', '2027-01-01T01:00:00.000Z']
    const status = { lastScheduled: last, nextScheduled: next, lastUpdate: 'monthly-1', active: 1 }
    expect(scheduleStatusOf({ status })).toEqual({
      lastScheduledTime: last,
      nextScheduledTime: next,
      lastUpdateName: 'monthly-1',
      active: 1,
    })
    expect(scheduleStatusOf({})).toEqual({ active: 0 })
  })
})
