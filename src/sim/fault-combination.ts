// Every kind of trouble alone and every two together, so that runs can be told to go through them all.

import { type FaultKind, faultKinds } from './fault-plan.ts'

/** In a fixed order: alone first, then every pair. */
export function faultCombinations(kinds: readonly FaultKind[] = faultKinds): readonly (readonly FaultKind[])[] {
  const pairs = kinds.flatMap((kind, index) => kinds.slice(index + 1).map((other) => [kind, other] as const))
  return [...kinds.map((kind) => [kind] as const), ...pairs]
}

/** `conflict + power-loss`, whichever came first. */
export function combinationName(kinds: readonly FaultKind[]): string {
  return faultKinds.filter((kind) => kinds.includes(kind)).join(' + ')
}

/** What struck in a run: every two kinds of it, or the one that struck alone. */
export function combinationsIn(struck: readonly FaultKind[]): readonly string[] {
  const kinds = faultKinds.filter((kind) => struck.includes(kind))
  if (kinds.length < 2) return kinds
  return faultCombinations(kinds).flatMap((combination) =>
    combination.length === 2 ? combinationName(combination) : [],
  )
}

/** Pairs that cannot strike in one run, each with the reason: none, so far. */
export const impossiblePairs: Readonly<Record<string, string>> = {}
