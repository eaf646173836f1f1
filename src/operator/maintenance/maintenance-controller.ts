// One node's maintenance: what its host is told to watch for, whether it is to be emptied, and what its Node shows of that. The
// ledger and the node controller do the rest, as for any operation.

import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { maintenancePrefix, type Wish } from '../../core/maintenance/wish.ts'
import { atRest } from '../../core/node/order.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import { isForeign } from '../node/act.ts'
import type { OperatorPorts } from '../ports.ts'
import type { ServerVersion } from '../server-version.ts'
import type { Operations } from '../update/operations.ts'
import { RunningOperation } from '../update/running-operation.ts'
import type { Terms } from '../update/terms.ts'
import { FailedMaintenance } from './failed-maintenance.ts'
import { HostSettings } from './host-settings.ts'
import { JobShelf } from './job-shelf.ts'
import { type MaintenanceSource, nodeOfMaintenance } from './maintenance-source.ts'
import { markNode } from './node-marking.ts'

export interface MaintenanceControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly source: MaintenanceSource
  readonly events: EventRecorder
  readonly namespace: string
  readonly serverVersion: ServerVersion
  readonly ownNode: string | undefined
  readonly wakeNode: (node: string) => void
  readonly wakeGrants: () => void
}

/**
 * So many nodes ask the ledger at a time; the rest waits behind them, and costs nothing. Those that may not go now are as many
 * again: they keep nobody else out.
 */
const atOnce = 50
const retryMs = 15_000

export function makeMaintenanceReconcile(options: MaintenanceControllerOptions): Reconcile {
  const { ports, cluster, book, operations, source } = options
  const settings = new HostSettings(ports, cluster)
  const shelf = new JobShelf(ports.api, options.namespace)
  const failed = new FailedMaintenance(cluster, (id) => source.operation(id) !== undefined)

  return async (name, signal) => {
    const owner = `${maintenancePrefix}${name}`
    const node = cluster.nodes.get(name)
    const state = cluster.states.get(name)
    if (!node || !state || isForeign(state, node)) {
      drop(owner)
      return undefined
    }
    const againMs = await settings.sync(state, cluster.policy?.spec ?? {}, signal)
    const wish = source.wish(name)
    const id = currentID(name) ?? wish?.id
    const operation = id === undefined ? undefined : source.operation(id)
    const isOurs = book.holderOf(name)?.startsWith(maintenancePrefix) ?? false
    const waitMs = operation ? await start(name, operation, wish, signal) : drop(owner)
    const asksOrRuns = operation && (operation.work.maintenance ?? operation.work.jobs)
    const needed = asksOrRuns ? (wish?.since ?? state.status?.rollout?.since) : undefined
    const waits = operation !== undefined && !isOurs && cluster.policy?.spec.taintWhileWaiting === true
    await markNode(ports.api, cluster, cluster.nodes.get(name) ?? node, { needed, waits }, signal)
    return firstOf(againMs, waitMs)
  }

  /** What was begun goes on under its name, whatever is wished meanwhile. */
  function currentID(name: string): string | undefined {
    const holder = book.holderOf(name)
    if (holder?.startsWith(maintenancePrefix)) return holder
    const rollout = cluster.states.get(name)?.status?.rollout
    const isUnderWay = rollout && !atRest.has(rollout.phase) && rollout.phase !== 'Staging'
    return isUnderWay && rollout.operationID.startsWith(maintenancePrefix) ? rollout.operationID : undefined
  }

  async function start(
    name: string,
    operation: Operation,
    wish: Wish | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { policy } = cluster
    const known = operations.get(`${maintenancePrefix}${name}`)
    const terms = termsOf(name, policy?.metadata.generation)
    if (known?.id === operation.id) {
      if (known.adopt(terms, operation) !== 'same') {
        options.wakeNode(name)
        options.wakeGrants()
      }
      // A policy that was made anew does not own the scripts yet.
      return (await areJobsReady(operation, signal)) ? undefined : retryMs
    }
    if (book.holderOf(name) === undefined && isFull(operation)) return retryMs
    if (!(await areJobsReady(operation, signal))) return retryMs
    const node = cluster.nodes.get(name)
    if (!node) return undefined
    const created = new Date(node.metadata.creationTimestamp)
    const since = new Date(wish?.since ?? created)
    operations.add(
      new RunningOperation({
        cluster,
        slots: book,
        serverVersion: options.serverVersion,
        terms,
        operation,
        // A host's clock may be behind: its wish is never older than itself.
        startedAt: since < created ? created : since,
        ownNode: options.ownNode,
      }),
    )
    ports.log.info('a node is to be emptied for maintenance', { node: name, operation: operation.id })
    options.wakeNode(name)
    options.wakeGrants()
    return undefined
  }

  function isFull(operation: Operation): boolean {
    const isShut = source.shutNow()
    const waits = isShut(operation)
    return runningOnes().filter((other) => isShut(other.operation) === waits).length >= atOnce
  }

  function drop(owner: string): undefined {
    if (!operations.get(owner)) return undefined
    operations.remove(owner, false)
    options.wakeNode(nodeOfMaintenance(owner))
    options.wakeGrants()
    return undefined
  }

  function runningOnes(): readonly RunningOperation[] {
    return operations.running().filter(({ owner }) => owner.startsWith(maintenancePrefix))
  }

  function termsOf(name: string, generation: number | undefined): Terms {
    return {
      only: name,
      generation,
      isDone: () => false,
      held: () => failedElsewhere(name),
      // Not what holds it up: its turn to stage is not another's meanwhile.
      lastly: () => fetchesAnew(name),
    }
  }

  /** A script that failed on one node is not let loose on the next. */
  function failedElsewhere(name: string): Reason | undefined {
    const node = failed.besides(name)
    if (node === undefined) return undefined
    return {
      code: 'FailuresReached',
      message: `maintenance of ${node} failed or needs a person; no other node is taken before`,
    }
  }

  /** Nothing is fetched after the drain that could be before. */
  function fetchesAnew(name: string): Reason | undefined {
    if (book.holderOf(name) !== undefined || !source.isOutdated(name)) return undefined
    return { code: 'NodesStaging', message: `${name} fetches and checks anew what may be done in this window` }
  }

  async function areJobsReady({ work }: Operation, signal: AbortSignal): Promise<boolean> {
    const { policy } = cluster
    if (!policy || !work.jobs) return true
    const wanted = new Set(work.jobs.map(({ name }) => name))
    const jobs = (policy.spec.maintenance?.jobs ?? []).filter(({ name }) => wanted.has(name))
    try {
      await shelf.ensure(policy, jobs, signal)
      return true
    } catch (error) {
      if (!(error instanceof SlipwayError)) throw error
      const { apiVersion, kind } = maintenancePolicies
      const { name, uid } = policy.metadata
      ports.log.warn('a maintenance job cannot be run', { code: error.code, error: error.message })
      const regarding = { apiVersion, kind, name, uid }
      options.events.record({ regarding, type: 'Warning', reason: error.code, action: 'Plan', note: error.message })
      return false
    }
  }
}

function firstOf(...waitsMs: readonly (number | undefined)[]): { readonly afterMs: number } | undefined {
  const known = waitsMs.flatMap((ms) => ms ?? [])
  return known.length > 0 ? { afterMs: Math.min(...known) } : undefined
}
