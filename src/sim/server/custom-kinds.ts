// Our own kinds as the API server would judge them: the structural schema with strict field validation, and what the CEL
// rules say on top. The schemas are those of src/api, the same the CRDs are generated from.

import { ZodNever, ZodObject, ZodOptional, type ZodType } from 'zod'
import { directUpdateSpecSchema, directUpdateStatusSchema } from '../../api/direct-update.ts'
import type { ResourceType } from '../../api/kube.ts'
import type { KubeErrorCause } from '../../api/kube-error.ts'
import { maintenancePolicySpecSchema, maintenancePolicyStatusSchema, policyName } from '../../api/maintenance-policy.ts'
import { nodeProfileSpecSchema, nodeProfileStatusSchema } from '../../api/node-profile.ts'
import { nodeStateSpecSchema, nodeStateStatusSchema } from '../../api/node-state.ts'
import {
  scheduledUpdateSpecSchema,
  scheduledUpdateStatusSchema,
  updateScheduleSpecSchema,
  updateScheduleStatusSchema,
} from '../../api/schedule.ts'
import { isJsonObject, sameJson } from './json.ts'
import { badRequest, invalid } from './refusals.ts'
import type { StoredObject } from './stored-object.ts'

interface CustomKind {
  readonly spec: ZodType
  readonly status: ZodObject
  readonly rules: (after: StoredObject, before: StoredObject | undefined) => readonly KubeErrorCause[]
}

export const customGroup = 'slipway.dev/v1alpha1'

const customKinds: Readonly<Record<string, CustomKind>> = {
  DirectUpdate: { spec: directUpdateSpecSchema, status: directUpdateStatusSchema, rules: directUpdateRules },
  ScheduledUpdate: {
    spec: scheduledUpdateSpecSchema,
    status: scheduledUpdateStatusSchema,
    rules: (after, before) =>
      before?.status?.update === undefined || sameJson(after.spec, before.spec)
        ? []
        : [{ field: 'spec', message: 'it is being carried out' }],
  },
  UpdateSchedule: { spec: updateScheduleSpecSchema, status: updateScheduleStatusSchema, rules: () => [] },
  NodeState: { spec: nodeStateSpecSchema, status: nodeStateStatusSchema, rules: (after) => durationRules(after.spec) },
  NodeProfile: {
    spec: nodeProfileSpecSchema,
    status: nodeProfileStatusSchema,
    rules: (after) => [...durationRules(after.spec), ...selectorRules(after.spec?.nodeSelector)],
  },
  MaintenancePolicy: {
    spec: maintenancePolicySpecSchema,
    status: maintenancePolicyStatusSchema,
    rules: (after) => [
      ...(after.metadata.name === policyName
        ? []
        : [{ field: 'metadata.name', message: `there is one MaintenancePolicy, named ${policyName}` }]),
      ...durationRules(after.spec),
    ],
  },
}

const rootFields = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])

export function isCustomKind(type: ResourceType): boolean {
  return type.apiVersion === customGroup && customKinds[type.kind] !== undefined
}

/** Throws Invalid, naming the field. Parts that did not change were judged when they were written. */
export function judgeCustomObject(type: ResourceType, after: StoredObject, before: StoredObject | undefined): void {
  const kind = customKinds[type.kind]
  if (kind === undefined) return
  for (const field in after) {
    if (!rootFields.has(field)) throw unknownField(field)
  }
  const { name } = after.metadata
  if (after.status !== undefined && after.status !== before?.status) {
    judgePart(type, name, 'status', kind.status, after.status, before?.status)
  }
  // What the rules say of a spec they said when it was written.
  if (before !== undefined && after.spec === before.spec) return
  judgePart(type, name, 'spec', kind.spec, after.spec, before?.spec)
  const broken = kind.rules(after, before)
  if (broken.length > 0) throw invalid(type, name, broken)
}

/** Most writes are of a small part: the others were judged when they were written. */
function judgePart(
  type: ResourceType,
  name: string,
  part: string,
  schema: ZodType,
  after: unknown,
  before: unknown,
): void {
  const shape = isJsonObject(after) && isJsonObject(before) ? fieldsOf(schema) : undefined
  if (shape === undefined || !isJsonObject(after) || !isJsonObject(before)) {
    judge(type, name, part, schema, after)
    return
  }
  for (const field in after) if (shape[field] === undefined) throw unknownField(`${part}.${field}`)
  for (const field in shape) {
    if (after[field] === before[field]) continue
    judgePart(type, name, `${part}.${field}`, shape[field] as ZodType, after[field], before[field])
  }
}

type Shape = Readonly<Record<string, ZodType>>

/** Schemas never change, and every write asks. */
const shapes = new WeakMap<ZodType, { readonly shape: Shape | undefined }>()

/** The fields of an object that can be judged one by one; undefined where they are judged together. */
function fieldsOf(schema: ZodType): Shape | undefined {
  const known = shapes.get(schema)
  if (known !== undefined) return known.shape
  const shape = shapeOf(schema)
  shapes.set(schema, { shape })
  return shape
}

function shapeOf(schema: ZodType): Shape | undefined {
  const inner = schema instanceof ZodOptional ? schema.unwrap() : schema
  if (!(inner instanceof ZodObject) || !(inner.def.catchall instanceof ZodNever)) return undefined
  return (inner.def.checks ?? []).length === 0 ? (inner.shape as Shape) : undefined
}

function judge(type: ResourceType, name: string, part: string, schema: ZodType, value: unknown): void {
  const result = schema.safeParse(value)
  if (result.success) return
  const causes: KubeErrorCause[] = []
  for (const issue of result.error.issues) {
    const field = [part, ...issue.path].join('.')
    if (issue.code === 'unrecognized_keys') throw unknownField(`${field}.${issue.keys[0]}`)
    causes.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${issue.message}` })
  }
  throw invalid(type, name, causes)
}

function unknownField(field: string): Error {
  return badRequest(`strict decoding error: unknown field "${field}"`)
}

function directUpdateRules(after: StoredObject, before: StoredObject | undefined): readonly KubeErrorCause[] {
  const causes: KubeErrorCause[] = []
  const { spec } = after
  const phase = before?.status?.phase
  if (phase === 'InProgress' || phase === 'RequiresAttention') {
    for (const field of ['kubernetes', 'script', 'nodeSelector']) {
      if (sameJson(spec?.[field], before?.spec?.[field])) continue
      causes.push({ field: `spec.${field}`, message: 'cannot change while the update runs: delete it or wait' })
    }
  }
  return [...causes, ...durationRules(spec), ...selectorRules(spec?.nodeSelector)]
}

const durationFields = new Set(['timeout', 'podGracePeriod', 'nodeTimeout'])

function durationRules(value: unknown, path = 'spec'): readonly KubeErrorCause[] {
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, field]) => {
    const here = `${path}.${key}`
    const nothing = durationFields.has(key) && key !== 'podGracePeriod' && typeof field === 'string'
    if (nothing && !/[1-9]/.test(field)) return [{ field: here, message: 'must be more than nothing, such as 30m' }]
    return durationRules(field, here)
  })
}

function selectorRules(selector: unknown): readonly KubeErrorCause[] {
  if (!isJsonObject(selector) || !Array.isArray(selector.matchExpressions)) return []
  return selector.matchExpressions.flatMap((expression: unknown) => {
    if (!isJsonObject(expression)) return []
    const needed = expression.operator === 'In' || expression.operator === 'NotIn'
    const given = Array.isArray(expression.values) && expression.values.length > 0
    if (needed === given) return []
    const message = needed ? 'In and NotIn need values' : 'Exists and DoesNotExist have no values'
    return [{ field: 'spec.nodeSelector.matchExpressions.values', message }]
  })
}
