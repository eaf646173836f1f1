import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'

/** One moment of a rollout, as read from the API. */
export interface RolloutSnapshot {
  readonly now: Date
  readonly update: DirectUpdate
  /** The nodes the update selects. */
  readonly nodes: readonly Node[]
  /** Those of other updates may be among them. */
  readonly nodeStates: readonly NodeState[]
  readonly policy?: MaintenancePolicy | undefined
  /** Of a cluster in memory: no command reaches it, only its console does. */
  readonly inMemory?: true
}

/** Where progress is shown: a live picture, plain lines, JSON lines, or nowhere. */
export interface ProgressSink {
  show(snapshot: RolloutSnapshot): void
  /** Something worth telling that no object says: a planned crash in the demo, a lost connection. */
  note(now: Date, text: string): void
  /** Shows the last state for good and gives the terminal back. */
  end(): void
}
