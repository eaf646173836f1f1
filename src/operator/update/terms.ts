import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Approval } from '../../api/steering.ts'
import type { StrategySpec, WaveStatus } from '../../api/strategy.ts'
import type { WindowSpec } from '../../api/window.ts'
import type { Work } from '../../api/work.ts'
import type { ApiAway } from '../../core/control-plane/may-leave.ts'
import type { Role } from '../../core/node/node-facts.ts'
import { workKindsOf } from '../../core/time/work-kinds.ts'
import { type Operation, runOf } from '../../core/update/operation.ts'
import type { UpdateChecks } from '../hooks/wave-checks.ts'
import type { Hours } from '../ledger/opening-hours.ts'

/** The node that is about to be taken. */
export interface LastCheck {
  readonly role: Role
  readonly work: Work
  readonly hasBegunWorkers: boolean
  /** Gates are looked at first: what is missing then is wanted soon, not now. */
  readonly isEarly: boolean
}

/** On what terms an operation takes its nodes, and which they are. */
export interface Terms {
  readonly nodeSelector?: DirectUpdateSpec['nodeSelector'] | undefined
  /** Which nodes it is about, where a selector cannot say it. */
  readonly isMember?: (node: Node) => boolean
  /** Nodes that join while it runs are its own as well: no clock of ours is asked when they came. */
  readonly takesNewNodes?: boolean
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
  /** Whether its plan says that the API will be away; what has no plan asks for it by what it is. Default Stated. */
  readonly apiAway?: ApiAway
  /** Why nothing of it may start now. */
  readonly held?: () => Reason | undefined
  /** Its own windows: narrower than those of the cluster. */
  readonly windows?: readonly WindowSpec[] | undefined
  /** A person wants it to go on whatever windows and freezes say. */
  readonly ignoresHours?: boolean
  /** Gates and hooks between its waves. */
  readonly checks?: UpdateChecks
  /** What is asked of one node, where it differs from node to node; undefined while it cannot be told. */
  readonly workFor?: (node: string) => Work | undefined
  /** Why this very node may not be taken now: nobody can tell what to ask of it. */
  readonly obstacle?: (node: string) => Reason | undefined
  /** What is still missing when nothing else stands in a node's way: asking for it has it made. */
  readonly lastly?: (check: LastCheck) => Reason | undefined
}

/** When a DirectUpdate may take its nodes, by what it says itself. */
export function updateHours({ spec }: DirectUpdate, operation: Operation): Pick<Terms, 'windows' | 'ignoresHours'> {
  return { windows: spec.windows, ignoresHours: spec.runNow?.operationID === runOf(operation) }
}

/** When it may start; undefined when a person said that it goes on at any time. */
export function hoursOf(
  operation: Operation,
  { windows, ignoresHours }: Pick<Terms, 'windows' | 'ignoresHours'>,
): Hours | undefined {
  return ignoresHours ? undefined : { holder: operation.id, kinds: workKindsOf(operation), windows }
}

/** A person stopped it, for now or for good. */
export function haltOf(desired: Terms['desired'], update: string): Reason | undefined {
  switch (desired) {
    case 'Paused':
      return {
        code: 'UpdatePaused',
        message: `nothing new starts: it is paused; go on with slipway resume ${update}`,
      }
    case 'Cancelled':
      return { code: 'UpdateCancelled', message: 'nothing new starts: it is cancelled' }
    default:
      return undefined
  }
}

/** Whether more or less may start by these, though nobody edited anything: the wave is another, or its time is over. */
export function haveMoved(before: Terms, after: Terms): boolean {
  return after.wave?.index !== before.wave?.index || after.expired?.code !== before.expired?.code
}
