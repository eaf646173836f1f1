// One run of one DirectUpdate. Its id is derived, not drawn: no write is needed before the first node, and a restarted
// operator arrives at the same id. A finished update that is edited becomes a new operation, so that Git can drive it.

import { type DirectUpdate, type DirectUpdateSpec, lastingFields, type UpdatePhase } from '../../api/direct-update.ts'
import type { Hook } from '../../api/hook.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { OperationKind } from '../../api/node-state.ts'
import type { ResolvedImage } from '../../api/os-image.ts'
import { type Retry, steering } from '../../api/steering.ts'
import type { Work } from '../../api/work.ts'
import { type Drain, drainOf } from '../drain/drain-policy.ts'
import { fingerprint } from '../fingerprint.ts'
import { type Gate, gatesOf } from '../gates/gate.ts'
import { pinnedSpec, resolvedFor } from '../image/resolved-image.ts'
import { type PathStep, pathStepOf, stepID } from './path-step.ts'
import { workOf } from './work-of.ts'

export const finalizer = 'slipway.dev/cleanup'

export interface Operation {
  readonly id: string
  /** The id of the whole run of which this is a step; absent = its own. */
  readonly run?: string
  /** Where it is on a path of versions that was resolved. */
  readonly step?: PathStep
  /** Absent = a DirectUpdate. */
  readonly kind?: Exclude<OperationKind, 'DirectUpdate'>
  readonly update: string
  readonly work: Work
  /** What the image of its work was found to be; absent: each host finds it out for itself. */
  readonly osImage?: ResolvedImage
  /** None: nothing it does disturbs what runs on a node, so nobody is sent away. */
  readonly disruption: 'Drain' | 'None'
  readonly rollback: NonNullable<DirectUpdateSpec['rollback']>
  readonly nodeTimeout: string
  /** How long the agent may work, where it may longer than until a person is called for. Absent = nodeTimeout. */
  readonly orderTimeout?: string
  readonly drain: Drain
  /** The policy's and its own. */
  readonly gates?: readonly Gate[]
  readonly hooks?: readonly Hook[]
  readonly retry?: Retry
  /** Nodes a person wants left out. */
  readonly skip?: ReadonlySet<string>
  /** It is to end: what becomes of nodes that have an order. */
  readonly cancel?: NonNullable<DirectUpdateSpec['onCancel']>
}

const ended: ReadonlySet<UpdatePhase> = new Set(['Planned', 'Succeeded', 'Failed', 'Cancelled'])

export function isEndedPhase(phase: UpdatePhase | undefined): boolean {
  return phase !== undefined && ended.has(phase)
}

/** Of all that makes a finished update start anew when it changes. */
export function specMark(spec: DirectUpdateSpec): string {
  return fingerprint(Object.fromEntries(Object.entries(spec).filter(([field]) => !steeringSet.has(field))))
}

const steeringSet: ReadonlySet<string> = new Set(steering)

/** A person asked to try again, and the operation has not taken that up. */
export function isRetryOpen({ spec, status }: Pick<DirectUpdate, 'spec' | 'status'>): boolean {
  return spec.retry !== undefined && spec.retry.token !== status?.retried
}

/** Also since each node was to be skipped: where nothing was done, to skip another one is a new wish. */
function hasSelectedNothing(status: DirectUpdate['status']): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Planned' && reason === 'NothingSelected') ?? false
}

/** The id of the run this update is in or should start now. */
export function operationID({ metadata, spec, status }: DirectUpdate): string {
  const work = fingerprint(Object.fromEntries(lastingFields.map((field) => [field, spec[field]])))
  const running = status?.operationID
  if (running?.endsWith(`-${work}`)) {
    const isChanged = status?.observedSpec !== specMark(spec) || hasSelectedNothing(status)
    const isEdited = status?.observedGeneration !== metadata.generation && isChanged
    if (!(isEdited && isEndedPhase(status?.phase))) return running
  }
  return `${metadata.name}/${metadata.uid.slice(0, 8)}-${metadata.generation ?? 1}-${work}`
}

/**
 * What an operation is for: the name of a DirectUpdate, or a kind and a name joined by a colon, which no name holds
 * (`profile:base`, `maintenance:w3`).
 */
export function ownerOfOperation(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

/** What the update's status calls the operation, whichever step of it this is. */
export function runOf({ id, run }: Pick<Operation, 'id' | 'run'>): string {
  return run ?? id
}

export function operationOf(update: DirectUpdate, policy: MaintenancePolicy | undefined, namespace: string): Operation {
  const { spec } = update
  const run = operationID(update)
  const step = pathStepOf(update, run)
  const id = step ? stepID(run, step) : run
  const osImage = resolvedFor(update, run)
  return {
    id,
    ...(id !== run && { run }),
    ...(step && { step }),
    update: update.metadata.name,
    work: workOf(pinnedSpec(spec, osImage), namespace, step),
    ...(osImage && { osImage }),
    disruption: 'Drain',
    rollback: spec.rollback ?? 'Image',
    nodeTimeout: spec.nodeTimeout ?? '30m',
    drain: drainOf(policy?.spec.drain, spec.drain),
    gates: gatesOf(policy?.spec.gates, spec.gates),
    hooks: spec.hooks ?? [],
    ...(spec.retry && { retry: spec.retry }),
    ...(spec.skip && { skip: new Set(spec.skip) }),
    ...(spec.desiredState === 'Cancelled' && { cancel: spec.onCancel ?? 'Finish' }),
  }
}
