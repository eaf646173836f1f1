// What the console's server tells its page, and what the page may ask it. Types only: the page carries no schema library.
//
//   GET  /api/stream              server-sent events: one `state`, a `change` for every batch of changes; `ping` ({at}) at first and in quiet times
//   GET  /api/nodes/NAME          NodeDetail
//   GET  /api/nodes/NAME/log      NodeLog, the last lines; ?step=NAME for one step, ?full=1 for all of it, from the host
//   GET  /api/rights              Rights: what the person may do here
//   GET  /api/plans               the last plan of each update, newest first
//   POST /api/plans               PlanRequest → PlanAnswer; the rehearsal runs in the server
//   POST /api/actions             ActionRequest → ActionAnswer
//   GET  /api/report/UPDATE.json  everything known of one run, to keep
//
// Every request carries the token of the printed URL. A failure answers with ConsoleError and a status of its kind.

import type { TroubleView } from './console-trouble.ts'
import type { UpdatePhase } from './direct-update.ts'
import type { NodePhase } from './node-state.ts'
import type { Reason } from './reason.ts'

/** What the colour of a node says: its phase, or how it stands outside of any update. */
export type TilePhase = NodePhase | 'Idle' | 'Skipped' | 'NotReady' | 'Cordoned'

export interface NodeTile {
  readonly name: string
  readonly zone: string
  /** `ControlPlane`, or the pool it belongs to by label; `Worker` where none says. */
  readonly group: string
  readonly role: 'ControlPlane' | 'Worker'
  readonly phase: TilePhase
  /** The update that concerns it most; absent also while a profile or maintenance is at work there. */
  readonly update?: string
  /** The NodeProfile that is at work there by itself, or failed. */
  readonly profile?: string
  readonly wave?: number
  readonly since?: string
  readonly reason?: Reason
  /** It waits for something that has a cause. */
  readonly waits: boolean
  readonly step?: string
  /** A person keeps it for themselves: who, since when, why. */
  readonly hold?: string
  readonly kubelet: string
}

export interface WaveView {
  readonly title: string
  readonly nodes: number
  readonly done: number
  readonly failed: number
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly soakUntil?: string
  /** Absent: it goes on by itself. */
  readonly approval?: { readonly asked: boolean; readonly by?: string; readonly at?: string }
  /** Where it has not ended: by the pace of the nodes so far, or by the preview. */
  readonly predicted?: { readonly startsAt: string; readonly endsAt: string }
}

export interface UpdateView {
  readonly name: string
  readonly phase: UpdatePhase | 'Deleting'
  readonly desiredState: 'Running' | 'Paused' | 'Cancelled'
  readonly operationID?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  /** The person, or the schedule that made it; absent where that is not on record. */
  readonly askedBy?: string
  readonly from?: string
  readonly target: string
  readonly steps: readonly { readonly version: string; readonly state: 'Done' | 'Running' | 'Waiting' }[]
  readonly counts: {
    readonly total: number
    readonly done: number
    readonly working: number
    readonly waiting: number
    readonly failed: number
    readonly skipped: number
  }
  readonly failuresAllowed: number
  readonly endsAt?: { readonly likely: string; readonly earliest: string; readonly latest: string }
  readonly waves: readonly WaveView[]
  readonly backups: readonly BackupView[]
  readonly preflight: readonly { readonly check: string; readonly result: string; readonly message: string }[]
  readonly warnings: readonly Reason[]
  /** Why it does not go on, where something of its own holds it. */
  readonly reason?: Reason
  readonly history: readonly RunView[]
}

export interface RunView {
  readonly update: string
  readonly operationID: string
  readonly target: string
  readonly phase: UpdatePhase
  readonly startedAt: string
  readonly finishedAt?: string
  readonly askedBy?: string
  readonly nodes?: number
  readonly failed?: number
}

export interface BackupView {
  readonly store: string
  readonly location: string
  readonly at: string
  readonly bytes?: number
  readonly revision?: number
  readonly sha256?: string
  readonly verified?: string
  /** What it was made for: a step of an update, a schedule, a person. */
  readonly reason: string
}

export interface StoreView {
  readonly name: string
  readonly kind: 'path' | 'nfs' | 's3' | 'gcs'
  readonly encrypted: boolean
  readonly schedule?: string
  readonly next?: string
  readonly last?: BackupView
  readonly problem?: Reason
  /** All that are known to be in it, newest first. */
  readonly backups?: readonly BackupView[]
}

/** One thing that is in the way, and all that waits for it. */
export interface CauseView {
  readonly key: string
  readonly code: string
  readonly title: string
  readonly message: string
  /** A person must act, the cluster must change, or time must pass. */
  readonly waitsFor: 'Person' | 'Cluster' | 'Clock'
  readonly since?: string
  readonly nextCheck?: string
  /** Those that wait for it, or the first of them where they are hundreds. */
  readonly nodes: readonly string[]
  /** All of them. */
  readonly nodeCount: number
  readonly updates: readonly string[]
  /** NodeProfiles that roll out by themselves. */
  readonly profiles: readonly string[]
  /** From what is seen to what is at the bottom of it. */
  readonly because: readonly { readonly what: string; readonly detail: string; readonly since?: string }[]
  readonly nextStep?: string
  readonly command: string
}

export interface BudgetView {
  /** `cluster`, `zone eu-1a`, `pool=gpu`. */
  readonly title: string
  readonly limit: number
  readonly used: readonly SlotView[]
}

export interface SlotView {
  readonly node: string
  readonly phase: TilePhase
  /** The name of the update or profile; `not ours` where the node is away for another cause. */
  readonly holder: string
  readonly since?: string
  readonly returnsWhen: string
}

export interface CalendarView {
  readonly timeZone: string
  /** By absolute instants, for the coming seven days. */
  readonly windows: readonly {
    readonly from: string
    readonly to: string
    readonly title: string
    readonly work: readonly string[]
  }[]
  readonly freezes: readonly { readonly from: string; readonly to: string; readonly reason: string }[]
  readonly runs: readonly {
    readonly update: string
    readonly from: string
    readonly to: string
    readonly predicted: boolean
  }[]
  /** No window is declared: work may go on at any time. */
  readonly always: boolean
}

export interface PolicyView {
  readonly paused: boolean
  readonly epoch: number
  readonly budgets: readonly BudgetView[]
  readonly calendar: CalendarView
  /** In a word for the side bar: `2 h 14 m left`, `opens Sat 22:00`, `always open`; `frozen until` where `always` is closed. */
  readonly window: { readonly open: boolean; readonly until?: string; readonly always: boolean }
  readonly stores: readonly StoreView[]
}

export interface ScheduleView {
  readonly name: string
  readonly kind: 'ScheduledUpdate' | 'UpdateSchedule'
  readonly when: string
  readonly next?: string
  readonly phase: string
  readonly last?: string
  readonly reason?: Reason
}

export interface ConsoleState {
  /** The cluster's time when this was told. Ages and counts to come are from this, never from the browser's clock: a demo runs faster. */
  readonly at: string
  readonly cluster: {
    readonly name: string
    readonly server: string
    readonly kubernetes: string
    readonly slipway: string
    readonly demo: boolean
  }
  readonly nodes: Readonly<Record<string, NodeTile>>
  readonly updates: Readonly<Record<string, UpdateView>>
  readonly schedules: Readonly<Record<string, ScheduleView>>
  readonly policy: PolicyView
  readonly causes: readonly CauseView[]
  readonly runs: readonly RunView[]
  /** The server has lost the API, or what it shows of it: what it last knew, and since when. */
  readonly trouble?: TroubleView
  /** What could not be read for want of rights, as `list nodes`. */
  readonly missing: readonly string[]
}

/** What changed since the event before: of maps the entries that did (null = gone), of the rest the whole. */
export interface ConsoleChange {
  readonly at: string
  readonly nodes?: Readonly<Record<string, NodeTile | null>>
  readonly updates?: Readonly<Record<string, UpdateView | null>>
  readonly schedules?: Readonly<Record<string, ScheduleView | null>>
  readonly policy?: PolicyView
  readonly causes?: readonly CauseView[]
  readonly runs?: readonly RunView[]
  readonly cluster?: ConsoleState['cluster']
  /** null: the API is back. */
  readonly trouble?: TroubleView | null
  readonly missing?: readonly string[]
}

export interface StepView {
  readonly name: string
  readonly state: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly reason?: Reason
}

export interface NodeDetail {
  readonly tile: NodeTile
  readonly life: readonly {
    readonly phase: string
    readonly at?: string
    readonly state: 'Done' | 'Now' | 'Next'
  }[]
  readonly steps: readonly StepView[]
  readonly drain?: {
    readonly total: number
    readonly left: number
    readonly pods: readonly { readonly pod: string; readonly state: string; readonly reason: Reason }[]
  }
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly cordonedBy?: string
  readonly command: string
}

export interface NodeLog {
  readonly node: string
  readonly entries: readonly { readonly step: string; readonly at?: string; readonly text: string }[]
  readonly command: string
}

export const consoleActions = [
  ...(['pause', 'resume', 'cancel', 'approve', 'retry', 'retry-profile', 'skip'] as const),
  ...(['run-now', 'hold', 'release', 'stop-all', 'go-on-all', 'create'] as const),
] as const
export type ConsoleAction = (typeof consoleActions)[number]

/** As many nodes as spec.retry and spec.skip can name. */
export const namedAtMost = 100

export interface ActionRequest {
  readonly action: ConsoleAction
  readonly update?: string | undefined
  /** Of retry-profile. */
  readonly profile?: string | undefined
  readonly nodes?: readonly string[] | undefined
  /** Of run-now, hold and stop-all. */
  readonly reason?: string | undefined
  /** Of create: the manifest of a DirectUpdate, as text. */
  readonly manifest?: string | undefined
}

export interface ActionAnswer {
  readonly message: string
  /** The same by hand. */
  readonly command: string
}

export interface Rights {
  readonly user: string
  readonly actions: Readonly<Record<ConsoleAction, { readonly allowed: boolean; readonly missing?: string }>>
}

export interface PlanRequest {
  /** The manifest of a DirectUpdate or of a schedule that makes one, as text; or the name of an update that is there. */
  readonly manifest?: string | undefined
  readonly update?: string | undefined
}

export interface PlanAnswer {
  readonly id: string
  readonly update: string
  readonly at: string
  readonly from?: string
  readonly target: string
  readonly verdict: 'clear' | 'possiblyBlocked' | 'blocked'
  readonly rehearsals: number
  readonly nodes: number
  readonly durationSeconds: { readonly least: number; readonly expected: number; readonly most: number }
  /** Of every rehearsal, in ascending order. */
  readonly durations: readonly number[]
  readonly startsAt?: string
  readonly endsAt?: string
  readonly blockers: readonly {
    readonly certainty: 'certain' | 'possible'
    readonly code: string
    readonly message: string
    readonly nodes: readonly string[]
  }[]
  readonly waves: readonly {
    readonly title: string
    readonly total: number
    readonly first: readonly string[]
    readonly startSeconds?: number
    readonly endSeconds?: number
  }[]
  readonly preflight: readonly { readonly check: string; readonly result: string; readonly message: string }[]
  readonly assumptions: readonly string[]
  /** The manifest of the update that was planned: to start it as it is. */
  readonly manifest: string
  readonly command: string
}

export interface ConsoleError {
  readonly code: string
  readonly message: string
  readonly nextStep: string
}
