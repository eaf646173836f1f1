// The contract of a driver: inspect → stage → steps → run → verify → undo. What a driver remembers stands in its notes on the
// disk, never in memory: every function here may be called again in another life of the agent, after any crash.

import type { Order } from '../../api/node-state.ts'
import type { Reason, ReasonCode } from '../../api/reason.ts'
import type { Host } from '../../ports/host.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { Schema } from '../journal/sealed-file.ts'

/** A driver's memory of one order: small JSON values in the order's folder, written whole and for good. */
export interface Notes {
  read<T>(name: string, schema: Schema<T>): Promise<T | undefined>
  write(name: string, value: object): Promise<void>
}

/** Content named by the order, by its SHA-256, on the host's disk. */
export interface ContentShelf {
  /** Where it lies; checked against its SHA-256 whenever it is read back. */
  path(sha256: string): string
  has(sha256: string): Promise<boolean>
  /** The whole content as text; throws JournalCorrupt where it is damaged or missing. */
  read(sha256: string): Promise<string>
  keep(content: string): Promise<void>
}

/** What a step may know when it decides what to run and whether its effect is there. */
export interface StepContext {
  readonly host: Host
  readonly order: Order
  readonly nodeName: string
  readonly log: Log
  readonly notes: Notes
  readonly content: ContentShelf
  /** A folder of this order alone, on the host's disk, for what is downloaded; made on first use, gone with the order. */
  readonly stagingFolder: string
  /** The boot in which this step was first started; undefined before. What proves a reboot. */
  readonly begunInBoot: string | undefined
  /** Something a person should know although the work goes on; stands in the report. */
  warn(message: string): Promise<void>
}

interface StepNature {
  /** Lower-case words joined by `-`; unique within an order. */
  readonly name: string
  /** Rule 11: before such a step starts the NodeState is read afresh. */
  readonly disruptive: boolean
  /** May take this host's API server or member of etcd away for a while, though the node as such stays. */
  readonly stopsControlPlane?: boolean
  /** How often it may be started before it counts as failed. */
  readonly attempts: number
  /** Its own deadline, where it has one besides the order's. */
  readonly timeoutMs?: number
  /** Restarts the kubelet: when it began is reported, so that only a later heartbeat counts. */
  readonly restartsKubelet?: boolean
  /** Takes a moment only: its start is reported together with its end, to spare a request. */
  readonly brief?: boolean
  /**
   * Only waits for somebody else on the host. Once begun nothing ends it but what it waits for: neither the order's time, nor its
   * withdrawal, nor restarts of the agent; it is the operator that calls for a person.
   */
  readonly waits?: boolean
  /**
   * Only settles what was begun, and disturbs nobody: the API is not asked whether it may start. What is known without asking counts:
   * an order that was withdrawn, or has no time left, is settled before its last word.
   */
  readonly settles?: boolean
  /**
   * Its tool keeps the effect only at the next orderly shutdown, and lost power takes it back: an order that goes on in another
   * life looks at it again, by `missing`.
   */
  readonly isKeptAtShutdown?: boolean
  /** Boots the machine: what an earlier step left for the next boot must be there after it. */
  readonly boots?: boolean
  /** Looks at the host: true when the effect is there already, so that nothing is run. Absent where looking cannot tell. */
  holds?(context: StepContext, signal: AbortSignal): Promise<boolean>
  /** Looks at the host after the work ended well: what is missing, or undefined when the effect is there. */
  missing?(context: StepContext, signal: AbortSignal): Promise<string | undefined>
  /** What is left to do when the effect of what was run was seen, before that goes on record; done again after a crash. */
  afterwards?(context: StepContext, signal: AbortSignal): Promise<void>
}

/** Long work: one program on the host, in its own transient unit. It survives the agent; after a reboot it is run again. */
export interface JobStep extends StepNature {
  /**
   * Looking at the host tells whether it did its work, so that one that was killed may be looked at and run again. Where it does not,
   * what was killed has failed; a record of what came to its end is no such look.
   */
  readonly showsEffect: boolean
  argv(context: StepContext, signal: AbortSignal): Promise<readonly string[]>
  /** Added to the clean environment of the job. */
  readonly env?: Readonly<Record<string, string>>
  /** Exit codes that mean more than StepFailed. */
  readonly exitReasons?: Readonly<Record<number, ReasonCode>>
  /** What it waits for, by the last line of its log: told while it runs. */
  waitsFor?(line: string): Reason | undefined
}

/**
 * Short work the agent does itself: files, settings, a restart. Cut off anywhere it is done again from the start, so it must be
 * idempotent. What it throws is the failure; a SlipwayError's code becomes the reason.
 */
export interface ActStep extends StepNature {
  act(context: StepContext, signal: AbortSignal): Promise<void>
}

export type Step = JobStep | ActStep

export interface Staging extends StepContext {
  readonly api: KubeApi
}

/** A picture of all that a driver's work for this order could change; plain JSON, equal when the host is equal. */
export type Picture = Readonly<Record<string, unknown>>

export type Undo =
  | { readonly possible: true; steps(order: Order): readonly Step[] }
  | {
      readonly possible: false
      /** Why it cannot be taken back, for people. */
      readonly because: string
      /** The point of no return: from when on nothing that was done before it is undone either. */
      readonly endsUndo: 'WhenBegun' | 'WhenDone' | 'Never'
    }

/** One way of changing a host. */
export interface Driver {
  /** Unique; listed in NodeState.status.agent.drivers. */
  readonly name: string
  /** Whether the order has work for this driver. */
  concerns(order: Order): boolean
  inspect(context: StepContext, signal: AbortSignal): Promise<Picture>
  /**
   * Fetches, checks and keeps all that the steps need, while the node still works; nothing is looked up later. Called again
   * before the first step: what is there already is not fetched twice. Returns the reason when the order cannot be carried
   * out; throws what may pass.
   */
  stage?(staging: Staging, signal: AbortSignal): Promise<Reason | undefined>
  /** In order; the same for the same order, always. */
  steps(order: Order): readonly Step[]
  /**
   * Asked before the last word on an order that was begun and did not succeed, unless this driver's way back is done: takes away what
   * would still change the host by itself later, whichever driver's step brought it there, and puts back what the host cannot come up
   * without. The order stays open, and it is asked again,
   * until it does not throw.
   */
  settle?(context: StepContext, signal: AbortSignal): Promise<void>
  readonly undo: Undo
  /** Undone also where the order asks only for the way back to the previous OS image (`rollback: Image`). */
  readonly undoneWith?: 'Image'
}
