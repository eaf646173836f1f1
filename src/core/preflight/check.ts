// A check is a pure judge over what is known of the cluster. It answers nothing where the update does not concern it.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { AgentStatus, NodeState } from '../../api/node-state.ts'
import type { ResolvedImage } from '../../api/os-image.ts'
import type { CheckName } from '../../api/preflight.ts'
import type { ReasonCode } from '../../api/reason.ts'
import type { Path } from '../versions/find-path.ts'
import type { Seen, Sights } from './sights.ts'

export interface CheckView {
  readonly spec: DirectUpdateSpec
  readonly nodes: readonly Node[]
  /** The nodes of the update. */
  readonly selected: readonly Node[]
  readonly stateOf: (node: string) => NodeState | undefined
  /** The version of the API server that answered. */
  readonly serverVersion: string
  /** The operator's own; absent where the operator is not the one who asks. */
  readonly operatorVersion?: string | undefined
  readonly policy?: MaintenancePolicy['spec'] | undefined
  readonly now: Date
  /** Why no path leads to the version; then it would have to be reached in one step. */
  readonly pathFault?: Path['fault']
  /** What os.image was found to name; absent: nobody has looked. */
  readonly osImage?: ResolvedImage | undefined
  /** Absent: nobody has looked, and the checks that need it are not made. */
  readonly sights?: Sights | undefined
}

export interface Finding {
  readonly result: 'Passed' | 'Warning' | 'Failed' | 'Unknown'
  readonly message: string
  /** The reason users know it by; PreflightFailed where there is none. */
  readonly code?: ReasonCode
  /** Only an edit of the update can change it. */
  readonly lasting?: boolean
}

export interface Check {
  readonly name: CheckName
  judge(view: CheckView): Finding | undefined
}

export const passed = (message: string): Finding => ({ result: 'Passed', message })
export const warned = (message: string): Finding => ({ result: 'Warning', message })
export const failed = (message: string): Finding => ({ result: 'Failed', message })
export const unknown = (message: string): Finding => ({ result: 'Unknown', message })

/** A check of something that has to be looked at: what could not be seen is unknown, never fine. */
export function seeing<T>(
  pick: (sights: Sights) => Seen<T>,
  judge: (seen: T, view: CheckView) => Finding | undefined,
): Check['judge'] {
  return (view) => {
    if (!view.sights) return undefined
    const sight = pick(view.sights)
    return 'seen' in sight ? judge(sight.seen, view) : unknown(sight.unseen)
  }
}

export function factsOf({ stateOf }: CheckView, node: Node): AgentStatus['facts'] | undefined {
  return stateOf(node.metadata.name)?.status?.agent?.facts
}

/** What its agent says, else what its kubelet told the API server. */
export function kubeletOf(view: CheckView, node: Node): string | undefined {
  return factsOf(view, node)?.kubelet ?? node.status?.nodeInfo?.kubeletVersion
}

export function namesOf(nodes: readonly Node[]): readonly string[] {
  return nodes.map(({ metadata }) => metadata.name)
}
