// What stands in the way of a plan, from the rehearsals and from the checks before the start; what both tell stands once.

import type { PlanAnswer } from '../../../api/console.ts'

export interface PlanBlocker {
  readonly code: string
  readonly message: string
  readonly nodes: readonly string[]
}

/** It would be refused or stopped in every run. */
export function certainOf({ blockers, preflight }: PlanAnswer): readonly PlanBlocker[] {
  const met = blockers.filter(({ certainty }) => certainty === 'certain')
  return onceEach([...met, ...checked(preflight, 'Failed')])
}

export function possibleOf({ blockers }: PlanAnswer): readonly PlanBlocker[] {
  return onceEach(blockers.filter(({ certainty }) => certainty === 'possible'))
}

export function warningsOf({ preflight }: PlanAnswer): readonly PlanBlocker[] {
  return checked(preflight, 'Warning')
}

function checked(preflight: PlanAnswer['preflight'], result: string): readonly PlanBlocker[] {
  return preflight
    .filter((one) => one.result === result)
    .map(({ check, message }) => ({ code: check, message, nodes: [] }))
}

function onceEach(all: readonly PlanBlocker[]): readonly PlanBlocker[] {
  return [...new Map(all.toReversed().map((one) => [one.message, one])).values()].toReversed()
}
