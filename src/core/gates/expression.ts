// CEL: checked when an update is planned, evaluated when its gate is looked at. Numbers without a fraction are integers, as
// the API server's own CEL has them.

import { Environment } from '@marcbachmann/cel-js'
import type { Look } from './gate.ts'

/** What an expression can speak of. */
export interface Scope {
  /** The one object, or the first of those selected; null where none is there. */
  readonly object: unknown
  readonly objects: readonly unknown[]
  /** Null where it is not about a node. */
  readonly node: unknown
  readonly wave: number
}

const limits = { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 500, maxMapEntries: 500, maxCallArguments: 16 }

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits,
})
  .registerVariable('object', 'dyn')
  .registerVariable('objects', 'list')
  .registerVariable('node', 'dyn')
  .registerVariable('wave', 'int')

/** What is wrong with the expression, before anything is known of the objects; undefined when nothing is. */
export function expressionFault(text: string): string | undefined {
  const { valid, type, error } = environment.check(text)
  if (!valid) return summary(error)
  const result = String(type)
  return result === 'bool' || result === 'dyn' ? undefined : `it gives a ${result}, not true or false`
}

export function judgeExpression(text: string, scope: Scope): Look {
  const fault = expressionFault(text)
  if (fault !== undefined) return { state: 'broken', message: `its expression is broken: ${fault}` }
  try {
    const value: unknown = environment.evaluate(text, {
      object: celValue(scope.object),
      objects: scope.objects.map(celValue),
      node: celValue(scope.node),
      wave: BigInt(scope.wave),
    })
    if (value === true) return { state: 'holds' }
    if (value === false) return { state: 'fails', message: `is false: ${text}` }
    return { state: 'unknown', message: `gives neither true nor false: ${text}` }
  } catch (error) {
    // A field that is not there (yet), a list that is too short, a type nobody expected.
    return { state: 'unknown', message: `cannot be told (${summary(error)}): ${text}` }
  }
}

function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(celValue)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, celValue(field)]))
}

/** The first line; the rest points into the text, for a terminal. */
function summary(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return (message.split('\n')[0] ?? message).slice(0, 500)
}
