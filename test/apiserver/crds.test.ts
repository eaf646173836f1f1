// The CRDs on a real API server: taken as they are, and wrong input refused in words that name the field and the fix.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { resourceDefinitions } from '../../src/main/crd/resource-definitions.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { accepted, kubernetes, script } from '../refusals/cases.ts'
import { everyRefusal } from '../refusals/every-refusal.ts'
import { acceptedProfiles } from '../refusals/profile-cases.ts'
import { type Answer, type PlainRequest, plainRequests } from './plain-request.ts'

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const ours = '/apis/slipway.dev/v1alpha1'
const plurals = {
  DirectUpdate: 'directupdates',
  MaintenancePolicy: 'maintenancepolicies',
  NodeProfile: 'nodeprofiles',
  NodeState: 'nodestates',
  ScheduledUpdate: 'scheduledupdates',
  UpdateSchedule: 'updateschedules',
}
const strict = '?fieldValidation=Strict'

const missing = await whyNoApiServer()
let server: ApiServer
let send: PlainRequest
let serial = 0

async function create(kind: keyof typeof plurals, spec: unknown, name?: string): Promise<Answer & { name: string }> {
  serial += 1
  const named = name ?? (kind === 'MaintenancePolicy' ? 'default' : `case-${serial}`)
  const object = { apiVersion: 'slipway.dev/v1alpha1', kind, metadata: { name: named }, spec }
  return { ...(await send('POST', `${ours}/${plurals[kind]}${strict}`, { body: object })), name: named }
}

async function merge(path: string, patch: object): Promise<Answer> {
  return await send('PATCH', `${ours}/${path}${strict}`, { body: patch, contentType: 'application/merge-patch+json' })
}

describe.skipIf(missing)('the CRDs on a real API server', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    send = await plainRequests(server.kubeconfigPath)
    for (const definition of resourceDefinitions()) {
      const answer = await send('POST', definitionsPath + strict, { body: definition })
      expect(answer.body.message).toBeUndefined()
    }
    for (const plural of Object.values(plurals)) {
      await vi.waitFor(async () => expect((await send('GET', `${ours}/${plural}`)).status).toBe(200), 60_000)
    }
  })

  afterAll(async () => {
    await server?.stop()
  })

  describe('the definitions', () => {
    test('are structural and established', async () => {
      const { body } = await send('GET', definitionsPath)
      const conditions = JSON.stringify(body)
      expect(conditions).not.toContain('NonStructuralSchema')
      expect(conditions.match(/"type":"Established"/g)).toHaveLength(resourceDefinitions().length)
    })
  })

  describe('the API server', () => {
    test.each(everyRefusal)('refuses $what', async ({ kind, spec, field, says, serverSays }) => {
      const { status, body } = await create(kind, spec)
      expect([400, 422]).toContain(status)
      expect(body.message).toContain(field)
      expect(body.message).toContain(says ?? serverSays)
    })

    test.each(accepted)('accepts $what', async ({ spec }) => {
      const { status, body } = await create('DirectUpdate', spec)
      expect(body.message).toBeUndefined()
      expect(status).toBe(201)
    })

    test.each(acceptedProfiles)('accepts a profile with $what', async ({ spec }) => {
      const { status, body } = await create('NodeProfile', spec)
      expect(body.message).toBeUndefined()
      expect(status).toBe(201)
    })

    test('takes a profile whose name can be part of a file name', async () => {
      const { body } = await create('NodeProfile', { sysctls: { 'vm.swappiness': '10' } }, 'a.b')
      expect(body.message).toContain('at most 63 lower-case letters, digits and -')
    })

    test('takes one MaintenancePolicy, named default', async () => {
      const other = await create('MaintenancePolicy', {}, 'other')
      expect(other.body.message).toContain('metadata.name must be default: a cluster has one MaintenancePolicy')
      expect((await create('MaintenancePolicy', {})).status).toBe(201)
    })
  })

  describe('an update that runs', () => {
    const selector = { matchLabels: { pool: 'a' } }
    const changes = [
      { field: 'kubernetes', to: { kubernetes: { version: 'v1.36.4' } } },
      { field: 'script', to: { script } },
      { field: 'nodeSelector', to: { nodeSelector: null } },
    ]

    test.each(changes)('keeps its $field', async ({ field, to }) => {
      const { name } = await create('DirectUpdate', { kubernetes, nodeSelector: selector })
      for (const phase of ['InProgress', 'RequiresAttention', 'Paused']) {
        await merge(`directupdates/${name}/status`, { status: { phase } })
        const { status, body } = await merge(`directupdates/${name}`, { spec: to })
        expect(status).toBe(422)
        expect(body.message).toContain(`spec.${field}`)
        expect(body.message).toContain(
          `${field} cannot change while the update runs: wait for its end, or cancel it first`,
        )
      }
    })

    test('does not become a dry run, but may have been one', async () => {
      const { name } = await create('DirectUpdate', { kubernetes })
      await merge(`directupdates/${name}/status`, { status: { phase: 'InProgress' } })
      const { status, body } = await merge(`directupdates/${name}`, { spec: { dryRun: true } })
      expect(status).toBe(422)
      expect(body.message).toContain('an update that runs cannot become a dry run: pause or cancel it')
      await merge(`directupdates/${name}/status`, { status: { phase: 'Planned' } })
      expect((await merge(`directupdates/${name}`, { spec: { dryRun: true } })).status).toBe(200)
      await merge(`directupdates/${name}/status`, { status: { phase: 'InProgress' } })
      expect((await merge(`directupdates/${name}`, { spec: { dryRun: false } })).status).toBe(200)
    })

    test('may be given another pace, and anything once it has ended', async () => {
      const { name } = await create('DirectUpdate', { kubernetes, nodeSelector: selector })
      await merge(`directupdates/${name}/status`, { status: { phase: 'InProgress' } })
      expect((await merge(`directupdates/${name}`, { spec: { strategy: { maxUnavailable: 2 } } })).status).toBe(200)
      await merge(`directupdates/${name}/status`, { status: { phase: 'Succeeded' } })
      expect((await merge(`directupdates/${name}`, { spec: { kubernetes: { version: 'v1.36.4' } } })).status).toBe(200)
    })
  })

  describe('kubectl get', () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const tableSchema = z.object({
      columnDefinitions: z.array(z.object({ name: z.string() })),
      rows: z.array(z.object({ cells: z.array(z.unknown()) })),
    })

    async function rowOf(path: string): Promise<Readonly<Record<string, unknown>>> {
      const { columnDefinitions, rows } = tableSchema.parse((await send('GET', `${ours}/${path}`, { accept })).body)
      return Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]))
    }

    test('shows how far an update is', async () => {
      const { name } = await create('DirectUpdate', { kubernetes })
      await merge(`directupdates/${name}/status`, { status: { phase: 'InProgress', progress: '4/12' } })
      expect(await rowOf(`directupdates/${name}`)).toMatchObject({
        Name: name,
        Phase: 'InProgress',
        Progress: '4/12',
        Target: 'v1.36.3',
      })
    })

    test('shows what a node is at', async () => {
      const { name } = await create('NodeState', {})
      const since = '2026-01-01T00:00:00Z'
      const rollout = { update: 'to-1-36', operationID: 'o', phase: 'Draining', since, attempt: 1 }
      const patched = await merge(`nodestates/${name}/status`, { status: { rollout } })
      expect(patched.body.message).toBeUndefined()
      expect(await rowOf(`nodestates/${name}`)).toMatchObject({ Name: name, Phase: 'Draining', Update: 'to-1-36' })
    })
  })
})
