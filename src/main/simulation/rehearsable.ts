// What of an update can be rehearsed on a snapshot. The servers that gates and hooks ask, the Jobs they run and the objects of other
// kinds they read are not in it.

import { createHash } from 'node:crypto'
import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import { invalidGate } from '../../core/gates/check-gates.ts'
import { gatesOf } from '../../core/gates/gate.ts'

/** What a script does cannot be rehearsed, only that one is run. */
export const plannedScript = 'true\n'

/** Scripts are named by their content, which is not in a snapshot: another one takes their place. */
export function rehearsable({ dryRun: _, desiredState: __, ...wished }: DirectUpdateSpec): DirectUpdateSpec {
  const spec = withoutOutside(wished)
  if (!spec.script) return spec
  const sha256 = createHash('sha256').update(plannedScript).digest('hex')
  const { validate } = spec.script
  return { ...spec, script: { ...spec.script, sha256, ...(validate && { validate: { ...validate, sha256 } }) } }
}

export function rehearsablePolicy(policy: MaintenancePolicy): MaintenancePolicy {
  const { gates, ...spec } = policy.spec
  return { ...policy, spec: { ...spec, ...(gates && { gates: gates.filter(isRehearsed) }) } }
}

/** One that was under way when the snapshot was taken. */
export function rehearsableUpdate(update: DirectUpdate): DirectUpdate {
  const { hooks: _, ...status } = update.status ?? {}
  return { ...update, spec: withoutOutside(update.spec), ...(update.status && { status }) }
}

/** Without what earlier hooks still owe. */
export function rehearsableState(state: NodeState): NodeState {
  const { hooks: _, ...spec } = state.spec
  return { ...state, spec }
}

/** What is left out, in sentences. */
export function leftOut(policies: readonly MaintenancePolicy[], { gates, hooks }: DirectUpdateSpec): readonly string[] {
  const unknown = gatesOf(...policies.map(({ spec }) => spec.gates), gates).filter(({ spec }) => !isRehearsed(spec))
  const names = unknown.map(({ name, spec }) => (name === spec.type ? name : `${name} (${spec.type})`))
  return [
    ...(names.length > 0 ? [`gates that are not rehearsed, and taken to hold at once: ${names.join(', ')}`] : []),
    ...(hooks?.length ? [`hooks that are not run, nor counted: ${hooks.map(({ name }) => name).join(', ')}`] : []),
  ]
}

function withoutOutside({ gates, hooks: _, ...spec }: DirectUpdateSpec): DirectUpdateSpec {
  return { ...spec, ...(gates && { gates: gates.filter(isRehearsed) }) }
}

/** A gate that can never be told is refused by the operator, and so it is here. */
function isRehearsed(gate: GateSpec): boolean {
  switch (gate.type) {
    case 'NodeReady':
    case 'PodsReady':
      return true
    case 'Cel':
      return gate.object === undefined || invalidGate([gate]) !== undefined
    case 'Prometheus':
    case 'Alertmanager':
    case 'Http':
    case 'Job':
      return false
  }
}
