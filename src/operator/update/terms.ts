import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Approval } from '../../api/steering.ts'
import type { StrategySpec, WaveStatus } from '../../api/strategy.ts'
import type { Work } from '../../api/work.ts'
import type { ApiAway } from '../../core/control-plane/may-leave.ts'
import type { Budget } from '../../core/ledger/tally.ts'

/** On what terms an operation takes its nodes, and which they are. */
export interface Terms {
  readonly nodeSelector?: DirectUpdateSpec['nodeSelector'] | undefined
  /** Which nodes it is about, where a selector cannot say it. */
  readonly isMember?: (node: Node) => boolean
  readonly strategy?: StrategySpec | undefined
  /** Absent = that it runs. */
  readonly desired?: DirectUpdateSpec['desiredState'] | undefined
  /** The wave it is in, as it was recorded. */
  readonly wave?: WaveStatus | undefined
  readonly approvals?: readonly Approval[] | undefined
  /** Its time is over. */
  readonly expired?: Reason | undefined
  /** Edits that may be taken over while it runs come with another one. */
  readonly generation: number | undefined
  /** Whether there is anything to do on a node that is selected; absent = by the version it runs. */
  readonly isDone?: (node: Node, state: NodeState | undefined) => boolean
  /** Its one node, where it is for one only. */
  readonly only?: string
  /** Limits of its own on nodes that are away, whatever for. */
  readonly budgets?: readonly Budget[]
  /** Whether its plan says that the API will be away; what has no plan asks for it by what it is. Default Stated. */
  readonly apiAway?: ApiAway
  /** Why nothing of it may start now. */
  readonly held?: () => Reason | undefined
  /** What is asked of one node, where it differs from node to node. */
  readonly workFor?: (node: string) => Work
}
