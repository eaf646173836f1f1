import { type DirectUpdateSpec, directUpdateSpecSchema, directUpdates } from '../../api/direct-update.ts'
import { objectName } from '../../api/scalars.ts'
import {
  scheduledUpdateSpecSchema,
  scheduledUpdates,
  updateScheduleSpecSchema,
  updateSchedules,
} from '../../api/schedule.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { shapeFaults } from '../../core/shape-faults.ts'
import { yamlText } from '../yaml-text.ts'

export interface ParsedUpdate {
  readonly name: string
  readonly spec: DirectUpdateSpec
}

export interface ParsedPlan extends ParsedUpdate {
  /** Of what the plan is: of the update itself, or of what a schedule will make. */
  readonly kind: string
}

/** What can be planned but a DirectUpdate: the update that it will make. */
const schedules = new Map<string, typeof scheduledUpdateSpecSchema | typeof updateScheduleSpecSchema>([
  [scheduledUpdates.kind, scheduledUpdateSpecSchema],
  [updateSchedules.kind, updateScheduleSpecSchema],
])

const { apiVersion } = directUpdates

/** A DirectUpdate as a person wrote it, YAML or JSON; without a name it gets one from the id. */
export function parseUpdate(text: string, id: string): ParsedUpdate {
  const value = yaml(text)
  if (!isRecord(value) || value.kind !== directUpdates.kind || value.apiVersion !== apiVersion) {
    throw wrong(`it is not a DirectUpdate: it needs apiVersion ${apiVersion} and kind ${directUpdates.kind}`)
  }
  const spec = directUpdateSpecSchema.safeParse(value.spec)
  if (!spec.success) throw wrong(shapeFaults(spec.error, 'spec'))
  return { name: nameOf(value, id), spec: spec.data }
}

/** What a plan can be made of. */
export function parsePlan(text: string, id: string): ParsedPlan {
  const value = yaml(text)
  const kind = isRecord(value) && value.apiVersion === apiVersion ? String(value.kind) : ''
  const schedule = schedules.get(kind)
  if (isRecord(value) && schedule) {
    const spec = schedule.safeParse(value.spec)
    if (!spec.success) throw wrong(shapeFaults(spec.error, 'spec'))
    return { kind, name: nameOf(value, id), spec: spec.data.template.spec }
  }
  const reason = unplannable.get(kind)
  if (reason !== undefined) throw wrong(`a ${kind} cannot be planned: ${reason}`)
  return { kind: directUpdates.kind, ...parseUpdate(text, id) }
}

/** Kinds of ours that people have at hand, and what to plan in their place. */
const unplannable: ReadonlyMap<string, string> = new Map([
  ['NodeProfile', 'plan a DirectUpdate whose spec.profile names it'],
  ['MaintenancePolicy', 'it is what a plan is made under; apply it, then plan an update'],
  ['NodeState', 'it is what the operator and an agent write'],
])

function nameOf({ metadata }: Readonly<Record<string, unknown>>, id: string): string {
  const given = isRecord(metadata) ? metadata.name : undefined
  const name = objectName.safeParse(given ?? `update-${id.slice(0, 5)}`)
  if (!name.success) throw wrong(shapeFaults(name.error, 'metadata.name'))
  return name.data
}

function yaml(text: string): unknown {
  try {
    return yamlText.parse(text)
  } catch (cause) {
    throw wrong(`it is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}

function wrong(message: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Usage', message, { nextStep: 'correct what is named and try again', cause })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
