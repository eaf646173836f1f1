import type { NodeState } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Store } from '../kube/store.ts'
import type { Clock } from '../ports/clock.ts'
import type { Host } from '../ports/host.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Publisher } from './publisher.ts'

export interface SideTaskContext {
  readonly api: KubeApi
  readonly host: Host
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly nodeName: string
  readonly stateDir: string
  readonly version: string
  /** This node's NodeState, as the watch shows it. */
  readonly store: Store<NodeState>
  readonly publisher: Publisher
}

/** What an agent does besides its orders: to look after something, and to say so in its own fields of the status. */
export interface SideTask {
  readonly name: string
  /** Runs until aborted; what it throws is logged, and it is started again. */
  run(context: SideTaskContext, signal: AbortSignal): Promise<void>
}

const backOff = { baseMs: 1_000, maxMs: 60_000 }

/** A side task that fails never takes the orders with it. */
export async function keepRunning(task: SideTask, context: SideTaskContext, signal: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await task.run(context, signal)
      signal.throwIfAborted()
      return
    } catch (error) {
      if (signal.aborted) throw error
      const code = error instanceof SlipwayError ? error.code : 'Internal'
      context.log.error('a side task failed and is started again', { task: task.name, code, error: String(error) })
      await sleep(context.clock, backOffMs(backOff, failures, context.random), signal)
    }
  }
}
