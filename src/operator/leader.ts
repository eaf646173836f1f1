// What the leader does during one term: wires the watches to the queues and the queues to the controllers. Nothing here
// outlives the term; the next leader starts from what the API says.

import type { NodeState } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { cordonOwner } from '../core/node/node-facts.ts'
import { runController } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { WorkQueue } from '../kube/work-queue.ts'
import { Cluster } from './cluster/cluster.ts'
import { BudgetWatch } from './drain/budget-watch.ts'
import { OwnPods } from './drain/own-pods.ts'
import { GrantPass } from './ledger/grant-pass.ts'
import { LedgerBook } from './ledger/ledger-book.ts'
import { makeNodeReconcile } from './node/node-controller.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import type { OperatorPorts } from './ports.ts'
import { Operations } from './update/operations.ts'
import { makeUpdateReconcile } from './update/update-controller.ts'

export interface LeaderOptions {
  readonly ports: OperatorPorts
  readonly events: EventRecorder
  readonly metrics: OperatorMetrics | undefined
  readonly namespace: string
  readonly podName: string | undefined
  readonly nodeName: string | undefined
  /** Hands the lease to another replica. */
  readonly stepDown: () => Promise<void>
  /** Another leader has written a higher epoch: this term is over. */
  readonly fencedOff: () => void
}

/** After a change of leader nothing is judged late before this has passed. */
const graceMs = 60_000
const pass = 'pass'
const workers = { nodes: 32, updates: 2 }

export async function lead(options: LeaderOptions, signal: AbortSignal): Promise<void> {
  const { ports, metrics } = options
  const { clock, log } = ports
  const cluster = new Cluster(ports, options.namespace)
  const watching = cluster.run(signal)
  await cluster.synced(signal)
  const serverVersion = await ports.api.serverVersion(signal)
  const book = new LedgerBook(ports, cluster)
  await book.open(highestEpoch(cluster.states.values()), signal)
  log.info('leading', { epoch: book.epoch, nodes: cluster.nodes.size, grants: book.grants.length })

  const queue = () => new WorkQueue({ clock, random: ports.random, baseMs: 20, maxMs: 15_000 })
  const queues = { nodes: queue(), updates: queue(), grants: queue() }
  const wakeNode = (name: string) => queues.nodes.add(name)
  const wakeGrants = () => queues.grants.add(pass)
  const grants = new GrantPass(ports, cluster, book)
  const operations = new Operations(cluster, options.namespace)
  const budgets = new BudgetWatch(ports, wakeNode, signal)
  const ownPods = new OwnPods({
    cluster,
    podName: options.podName,
    namespace: options.namespace,
    stepDown: options.stepDown,
  })

  const concerned = (name: string): boolean => {
    const node = cluster.nodes.get(name)
    const state = cluster.states.get(name)
    if (!node || !state || book.grantOf(name) || cordonOwner(node) !== undefined) return true
    return !isAtRest(state) || !state.metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid)
  }
  const look = (name: string): void => {
    if (concerned(name)) wakeNode(name)
    const grant = book.grantOf(name)
    // The slot of a machine that is gone comes back whether or not an operation still wants slots.
    if (grant && cluster.nodes.get(name)?.metadata.uid !== grant.nodeUID) wakeGrants()
    for (const operation of operations.running()) {
      if (!operation.refresh(name)) continue
      wakeGrants()
      queues.updates.add(operation.update.metadata.name)
    }
    for (const update of operations.awaiting) queues.updates.addAfter(update, 500)
  }
  cluster.nodes.subscribe(({ key }) => look(key))
  cluster.states.subscribe(({ key }) => look(key))
  cluster.updates.subscribe(({ key }) => queues.updates.add(key))
  cluster.policies.subscribe(() => {
    wakeGrants()
    for (const operation of operations.running()) queues.updates.add(operation.update.metadata.name)
  })
  for (const { metadata } of cluster.nodes.values()) if (concerned(metadata.name)) wakeNode(metadata.name)
  for (const { metadata } of cluster.states.values()) if (concerned(metadata.name)) wakeNode(metadata.name)
  for (const { metadata } of cluster.updates.values()) queues.updates.add(metadata.name)
  wakeGrants()

  const reconcileGrants = async (): Promise<undefined> => {
    const { nodes, updates } = await grants.run(operations.running(), signal).catch((error: unknown) => {
      if (error instanceof SlipwayError && error.code === 'NotLeader') options.fencedOff()
      throw error
    })
    metrics?.granted(book.grants.length)
    for (const name of nodes) {
      look(name)
      wakeNode(name)
    }
    for (const update of updates) queues.updates.add(update)
    return undefined
  }
  const reconcileNode = makeNodeReconcile({
    ports,
    cluster,
    book,
    grants,
    budgets,
    ownPods,
    events: options.events,
    operation: (id) => operations.operation(id),
    wake: wakeNode,
    wakeGrants,
    graceUntil: new Date(clock.now().getTime() + graceMs),
    signal,
  })
  const reconcileUpdate = makeUpdateReconcile({
    ports,
    cluster,
    book,
    operations,
    events: options.events,
    namespace: options.namespace,
    serverVersion,
    ownNode: options.nodeName,
    wakeNode,
    wakeGrants,
  })
  const run = (name: keyof typeof queues, reconcile: typeof reconcileNode, count: number) =>
    runController(
      {
        name,
        queue: queues[name],
        reconcile,
        workers: count,
        log,
        onResult: (_key, outcome) => metrics?.reconciled(name, outcome),
      },
      signal,
    )
  metrics?.leading(true)
  try {
    await Promise.all([
      watching,
      run('nodes', reconcileNode, workers.nodes),
      run('updates', reconcileUpdate, workers.updates),
      run('grants', reconcileGrants, 1),
    ])
  } finally {
    metrics?.leading(false)
  }
}

function isAtRest({ status }: NodeState): boolean {
  const phase = status?.rollout?.phase
  return phase === undefined || phase === 'Done'
}

function highestEpoch(states: Iterable<NodeState>): number {
  let highest = 0
  for (const { spec, status } of states) highest = Math.max(highest, spec.order?.epoch ?? 0, status?.agent?.epoch ?? 0)
  return highest
}
