// Resources of other systems on a real API server: their definitions come while Slipway runs, whatever those systems took is
// taken, and what is asked for is carried out with the rights that `install --with-foreign` gives.

import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { backupAnnotation } from '../../src/api/backup-plan.ts'
import {
  cupcakeDirectUpdates,
  cupcakeNodeMarks,
  cupcakeScheduledUpdates,
  cupcakeUpdateSchedules,
} from '../../src/api/cupcake.ts'
import { cupcakeBackupSelector } from '../../src/api/cupcake-backup.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { configMaps, type KubeObject, nodes, type ResourceType } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { scheduledUpdates, updateSchedules } from '../../src/api/schedule.ts'
import { foreignDefinitions } from '../../src/main/crd/foreign-definitions.ts'
import { foreignMessage } from '../../src/operator/compat/decide-carry.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { installSlipway, kubectl, namespace } from '../rollout-rig/installation.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { directSpecs, scheduledSpecs, scheduleSpecs } from '../samples/cupcake-manifests.ts'
import { plainRequests } from './plain-request.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const patience = { timeout: 240_000, interval: 200 }
const manifests = join(import.meta.dirname, '../compat/cupcake')

describe.skipIf(missing)('resources of CUPCAKE on a real API server', () => {
  let rig: RolloutRig
  const apply = (
    { apiVersion, kind }: Pick<ResourceType<KubeObject>, 'apiVersion' | 'kind'>,
    name: string,
    spec: object,
  ) => kubectl(rig.server, ['apply', '-f', '-'], JSON.stringify({ apiVersion, kind, metadata: { name }, spec }))

  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.35.4' },
      apiArguments: listsApart,
    })
    await installSlipway(rig.server, '--with-foreign')
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('the definitions are structural', async () => {
    const names = foreignDefinitions().map(({ metadata }) => metadata.name)
    const text = await kubectl(rig.server, ['get', 'crd', ...names, '-o', 'json'])
    expect(text).not.toContain('NonStructuralSchema')
    expect(text.match(/"type": "Established"/g)).toHaveLength(names.length)
  })

  test('a DirectUpdate that was applied with kubectl is carried out and told of', async () => {
    await kubectl(rig.server, ['apply', '-f', join(manifests, 'basic.yaml')])
    const found = () => rig.api.get(cupcakeDirectUpdates, { name: 'basic' }, signal)
    await vi.waitFor(async () => expect((await found()).status?.phase).toBe('Succeeded'), patience)
    const { status, metadata } = await found()
    expect(status?.summary).toEqual({ total: 3, completed: 3, upgrading: 0, pending: 0, failed: 0 })
    const table = await kubectl(rig.server, ['get', 'du.v1.cupcake.ricardomolendijk.com', 'basic'])
    expect(table).toMatch(/NAME\s+PHASE\s+TARGET\s+PROGRESS\s+AGE\s+basic\s+Succeeded\s+1\.36\.3\s+3\s/)
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(nodes, {}, signal)
      const marks = items.map(({ metadata: { annotations } }) => annotations?.[cupcakeNodeMarks.status])
      expect(marks).toEqual(['completed', 'completed', 'completed'])
    }, patience)
    await kubectl(rig.server, ['delete', 'du.v1.cupcake.ricardomolendijk.com', 'basic'])
    const { items } = await rig.api.list(directUpdates, {}, signal)
    const [ours] = items.filter(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.uid === metadata.uid)
    const name = ours?.metadata.name ?? ''
    await vi.waitFor(
      () => expect(rig.api.get(directUpdates, { name }, signal)).rejects.toMatchObject({ code: 'NotFound' }),
      patience,
    )
  })

  test('an UpdateSchedule is planned, and an edit without a time told of', async () => {
    await kubectl(rig.server, ['apply', '-f', join(manifests, 'nightly.yaml')])
    const found = () => rig.api.get(cupcakeUpdateSchedules, { name: 'nightly' }, signal)
    await vi.waitFor(async () => expect((await found()).status?.nextScheduledTime).toBeDefined(), patience)
    expect((await rig.api.list(updateSchedules, {}, signal)).items).toHaveLength(1)
    const edit = (schedule: string) =>
      rig.api.patch(
        cupcakeUpdateSchedules,
        { name: 'nightly' },
        { type: 'merge', body: { spec: { schedule } } },
        signal,
      )
    await edit('0 5 * * *')
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(updateSchedules, {}, signal)
      expect(items.map(({ spec }) => spec.cron)).toEqual(['0 5 * * *'])
    }, patience)
    await edit('@reboot')
    await vi.waitFor(async () => {
      const said = (await found()).metadata.annotations?.[foreignMessage]
      expect(said).toContain('its edit is not taken up: spec.schedule "@reboot"')
    }, patience)
  })

  test('an UpdateSchedule makes an update when its time comes', async () => {
    const updatePolicy = { targetVersionPattern: '1.36.4', concurrency: 2 }
    await apply(cupcakeUpdateSchedules, 'often', { schedule: '@every 1m', updatePolicy })
    const found = () => rig.api.get(cupcakeUpdateSchedules, { name: 'often' }, signal)
    const lastName = await vi.waitFor(async () => {
      const { lastUpdateName = '', lastScheduledTime } = (await found()).status ?? {}
      expect(lastUpdateName).toMatch(/^often-/)
      expect(lastScheduledTime).toBeDefined()
      return lastUpdateName
    }, patience)
    const first = (await found()).status?.lastScheduledTime ?? ''
    await rig.api.patch(
      cupcakeUpdateSchedules,
      { name: 'often' },
      { type: 'merge', body: { spec: { suspended: true } } },
      signal,
    )
    const madeMs = Date.parse((await found()).metadata.creationTimestamp)
    expect(Date.parse(first) - madeMs).toBe(60_000)
    expect((await rig.ended(lastName, patience.timeout)).status).toMatchObject({
      phase: 'Succeeded',
      summary: { total: 3, done: 3 },
    })
    await vi.waitFor(async () => expect((await found()).status?.active).toBe(0), patience)
  })

  test('a ScheduledUpdate is carried out when its time comes', async () => {
    const scheduleAt = new Date(Date.now() + 20_000).toISOString()
    await apply(cupcakeScheduledUpdates, 'soon', { targetVersion: '1.36.5', scheduleAt, concurrency: 2 })
    const found = async () => (await rig.api.get(cupcakeScheduledUpdates, { name: 'soon' }, signal)).status
    await vi.waitFor(async () => expect((await found())?.phase).toBe('Scheduled'), { timeout: 19_000, interval: 100 })
    await vi.waitFor(async () => expect((await found())?.phase).toBe('Completed'), patience)
    const { executedAt = '', directUpdateName = '', scheduledFor } = (await found()) ?? {}
    expect(scheduledFor).toBe(scheduleAt)
    // The API server writes whole seconds.
    expect(Date.parse(executedAt)).toBeGreaterThan(Date.parse(scheduleAt) - 1_000)
    expect((await rig.api.get(directUpdates, { name: directUpdateName }, signal)).status?.phase).toBe('Succeeded')
    expect(rig.observer.done('v1.36.5')).toBe(3)
  })

  test('a bundle is found where CUPCAKE looks for its name', async () => {
    const data = { url: '/srv/bundle.tar', sha256: 'b'.repeat(64) }
    await rig.api.create(configMaps, { metadata: { name: 'bundle', namespace: 'kube-system' }, data }, signal)
    const airGapped = { enabled: true, bundleConfigMap: 'bundle' }
    await apply(cupcakeScheduledUpdates, 'far', {
      targetVersion: '1.36.6',
      scheduleAt: '2099-03-05T10:00:00Z',
      airGapped,
    })
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(scheduledUpdates, {}, signal)
      const [ours] = items.filter(({ metadata }) => metadata.name.startsWith('far-'))
      expect(ours?.spec.template.spec.airGapped).toEqual({ bundle: data })
    }, patience)
  })

  test('an edit of a ScheduledUpdate is passed on before its time', async () => {
    const spec = { targetVersion: '1.36.3', scheduleAt: '2099-01-05T10:00:00Z' }
    await apply(cupcakeScheduledUpdates, 'later', spec)
    const ours = async () => (await rig.api.list(scheduledUpdates, {}, signal)).items.map(({ spec: { at } }) => at)
    await vi.waitFor(async () => expect(await ours()).toContain(spec.scheduleAt), patience)
    const body = { spec: { scheduleAt: '2099-02-05T10:00:00Z' } }
    await rig.api.patch(cupcakeScheduledUpdates, { name: 'later' }, { type: 'merge', body }, signal)
    await vi.waitFor(async () => expect(await ours()).toContain(body.spec.scheduleAt), patience)
  })

  test('a request for a backup is carried out, answered and taken away', async () => {
    const stores = { spec: { backupStores: [{ name: 'here', path: '/var/lib/backups' }] } }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: stores }, signal)
    const operation = '8d3a2c1e-0000-4000-8000-000000000001'
    const data = { operation_id: operation, node_name: 'cp1', snapshot_name: 'etcd-snapshot-1', backup_type: 'etcd' }
    const [label = '', value = ''] = cupcakeBackupSelector.split('=')
    const request = { name: `backup-${operation}-cp1`, namespace }
    await rig.api.create(configMaps, { metadata: { ...request, labels: { [label]: value } }, data }, signal)
    const reply = { name: `backup-status-${operation}-cp1`, namespace }
    const { data: said } = await vi.waitFor(() => rig.api.get(configMaps, reply, signal), patience)
    expect(said).toEqual({
      ...{ completed: 'true', success: 'true', message: 'stored and read back', snapshot_name: 'etcd-snapshot-1' },
      upload_path: expect.stringMatching(/./),
      timestamp: expect.stringMatching(/^\d{4}-/),
    })
    await vi.waitFor(
      () => expect(rig.api.get(configMaps, request, signal)).rejects.toMatchObject({ code: 'NotFound' }),
      patience,
    )
    expect((await rig.policy()).metadata.annotations?.[backupAnnotation]).toContain('cupcake-')
  })

  test('whatever its own definitions took is taken', async () => {
    const send = await plainRequests(rig.server.kubeconfigPath)
    const take = async (
      type: { readonly apiVersion: string; readonly kind: string; readonly plural: string },
      spec: object,
    ) => {
      const { apiVersion, kind, plural } = type
      const path = `/apis/${apiVersion}/${plural}?fieldValidation=Strict&dryRun=All`
      const body = { apiVersion, kind, metadata: { generateName: 'any-' }, spec }
      const answer = await send('POST', path, { body })
      expect(answer.body.message).toBeUndefined()
      expect(answer.status).toBe(201)
    }
    const runs = { numRuns: 100 }
    await fc.assert(
      fc.asyncProperty(directSpecs(false), (spec) => take(cupcakeDirectUpdates, spec)),
      runs,
    )
    await fc.assert(
      fc.asyncProperty(scheduledSpecs(false), (spec) => take(cupcakeScheduledUpdates, spec)),
      runs,
    )
    await fc.assert(
      fc.asyncProperty(scheduleSpecs(false), (spec) => take(cupcakeUpdateSchedules, spec)),
      runs,
    )
  })

  test('install prints all of it', async () => {
    const { out } = await runSlipway(['install', '--print', '--with-foreign', '--namespace', namespace])
    for (const { metadata } of foreignDefinitions()) expect(out).toContain(`name: ${metadata.name}`)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'compat', [/cupcake|housekeeper|watch configmaps/])
  })
})
