// With one or two control-plane nodes the API cannot stay while one of them is away. Then the plan says so, and only then it may.

import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { formatDuration } from '../duration.ts'
import { roleOf } from '../node/node-facts.ts'
import type { WorkTime } from '../plan/work-time.ts'
import { asStated } from './datastore.ts'

/** Whether a plan with these warnings says that the API will be away. */
export function saysApiAway(warnings: readonly Reason[]): boolean {
  return warnings.some(({ code }) => code === 'ControlPlaneAway')
}

/** The warning of a plan that takes these nodes out; undefined where the API stays. `lasts`: the work on one of them, where known. */
export function apiAwayWarning(
  all: readonly Node[],
  selected: readonly Node[],
  stateOf: (node: string) => NodeState | undefined,
  datastore: MaintenancePolicySpec['datastore'],
  lasts?: WorkTime,
): Reason | undefined {
  const isControlPlane = (node: Node) => roleOf(node) === 'ControlPlane'
  const controlPlane = all.filter(isControlPlane)
  const taken = selected.filter(isControlPlane).map(({ metadata }) => metadata.name)
  if (taken.length === 0 || controlPlane.length > 2) return undefined
  const elsewhere = ({ metadata }: Node) =>
    asStated(stateOf(metadata.name)?.status?.agent?.controlPlane, datastore)?.etcd.place === 'External'
  if (controlPlane.length === 2 && controlPlane.every(elsewhere)) return undefined
  const why =
    controlPlane.length === 1 ? 'it is the only control-plane node' : 'of two members of etcd none can agree alone'
  return {
    code: 'ControlPlaneAway',
    message: `the API will be away while ${taken.join(' and, later, ')} is worked on: ${why}${lasts ? lengthText(lasts) : ''}`,
  }
}

/** The API comes back sooner where the work has steps that leave it alone. */
function lengthText({ ms, isMeasured }: WorkTime): string {
  return `; expect it back after ${formatDuration(ms)} at most (${isMeasured ? 'measured on earlier work' : 'assumed'})`
}
