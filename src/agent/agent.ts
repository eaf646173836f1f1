// The agent of one node: watches its own NodeState, carries out the orders in it, reports in its status.

import { type NodeState, nodeStates } from '../api/node-state.ts'
import { Reflector } from '../kube/reflector.ts'
import { Store } from '../kube/store.ts'
import type { Clock } from '../ports/clock.ts'
import type { Host } from '../ports/host.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { StepObstacle } from './control-plane/step-obstacle.ts'
import type { Driver } from './drivers/driver.ts'
import { OrderDesk } from './order-desk.ts'
import { Publisher } from './publisher.ts'
import { keepRunning, type SideTask } from './side-task.ts'

export interface AgentOptions {
  readonly api: KubeApi
  readonly host: Host
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly nodeName: string
  /** Where the journal lives on the host: `/var/lib/slipway`. */
  readonly stateDir: string
  readonly version: string
  readonly drivers: readonly Driver[]
  readonly sideTasks?: readonly SideTask[]
  /** Why a step must not start yet, by a look at the host. */
  readonly obstacle?: StepObstacle
}

/** Runs until aborted. Work that is under way on the host goes on without the agent; the next one finds it again. */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, random, nodeName } = options
  const log = options.log.with({ node: nodeName })
  const store = new Store<NodeState>()
  const selection = { fieldSelector: `metadata.name=${nodeName}` }
  const reflector = new Reflector({ api, type: nodeStates, selection, store, clock, random, log })
  const publisher = new Publisher({ api, store, clock, random, log, nodeName })
  let isSynced = false
  const desk = new OrderDesk({ ...options, log, store, publisher, isSynced: () => isSynced })
  const awaitSync = async () => {
    await reflector.synced(signal)
    isSynced = true
  }
  const besides = (options.sideTasks ?? []).map((task) =>
    keepRunning(task, { ...options, log, store, publisher }, signal),
  )
  try {
    await Promise.all([reflector.run(signal), awaitSync(), publisher.run(signal), desk.run(signal), ...besides])
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
