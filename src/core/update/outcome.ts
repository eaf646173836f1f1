// When an update has come to its end for the one who looks at it, and why it was refused.

import type { DirectUpdate, UpdateCondition } from '../../api/direct-update.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { isEndedPhase } from './operation.ts'

/** False while the operator has not yet looked at the present spec: then its status speaks of an earlier one. */
export function isObserved({ metadata, status }: DirectUpdate): boolean {
  return status?.observedGeneration === undefined || metadata.generation === undefined
    ? status !== undefined
    : status.observedGeneration >= metadata.generation
}

export function conditionOf(update: DirectUpdate, type: string): UpdateCondition | undefined {
  return update.status?.conditions?.find((condition) => condition.type === type)
}

/** The code is any text: a newer operator may know more reasons than this program. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly since: string
}

/** Why the operator does not carry it out, where it said so: for good in phase Failed, else for as long as that holds. */
export function refusal(update: DirectUpdate): Refusal | undefined {
  const planned = conditionOf(update, 'Planned')
  if (planned?.status !== 'False' || !isObserved(update)) return undefined
  return { code: planned.reason, message: planned.message, since: planned.lastTransitionTime }
}

/** What keeps an update from its beginning until somebody has put something right, or brought the version that comes first. */
const needsPerson: ReadonlySet<string> = new Set([
  ...(['PreflightFailed', 'VersionSkipsMinor', 'GateInvalid', 'RegistrySecretMissing', 'BackupStoreMissing'] as const),
  ...(['ScriptMissing', 'ScriptChanged', 'ProfileUnknown', 'ProfileContradicted'] as const),
] satisfies ReasonCode[])

/** Nothing more will happen without a person. One that is refused for another cause begins by itself when that has passed. */
export function isEnded(update: DirectUpdate): boolean {
  if (!isObserved(update)) return false
  const phase = update.status?.phase
  if (phase === 'Planned') return true
  return isEndedPhase(phase) || phase === 'RequiresAttention' || needsPerson.has(refusal(update)?.code ?? '')
}

/** Its nodes are no longer its own: a later update may have taken them over. */
export function isOver(update: DirectUpdate): boolean {
  return isEnded(update) && update.status?.phase !== 'RequiresAttention'
}
