// Whether gates can be looked at at all: asked before an update starts.

import type { GateSpec } from '../../api/gate.ts'
import type { Reason } from '../../api/reason.ts'
import { expressionFault } from './expression.ts'
import { gatesOf } from './gate.ts'

export function invalidGate(...lists: readonly (readonly GateSpec[] | undefined)[]): Reason | undefined {
  for (const { name, spec } of gatesOf(...lists)) {
    if (spec.expression === undefined) continue
    const fault = expressionFault(spec.expression)
    if (fault !== undefined) {
      return { code: 'GateInvalid', message: `gate ${name}: its expression "${spec.expression}" is broken: ${fault}` }
    }
  }
  return undefined
}
