// The resources of CUPCAKE, where they are installed: three carriers, the marks and series of their operations, one queue.

import { cupcakeDirectUpdates, cupcakeScheduledUpdates, cupcakeUpdateSchedules } from '../../api/cupcake.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { runController } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorMetrics } from '../operator-metrics.ts'
import type { OperatorPorts } from '../ports.ts'
import { BundleMaps } from './bundle-map.ts'
import { CupcakeBackups } from './cupcake-backups.ts'
import { directCarrier, scheduleCarrier, scheduledCarrier } from './cupcake-carriers.ts'
import { markedStatus } from './cupcake-marks.ts'
import { CupcakeOperations } from './cupcake-operations.ts'
import { ForeignWatch } from './foreign-watch.ts'

export interface CupcakeOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly metrics: OperatorMetrics | undefined
  readonly namespace: string
}

const workers = 2
/** Many changes of nodes at once are one reason to look. */
const gatherMs = 500
const sweep = 'sweep'
const requests = 'requests'

type Kind = 'direct' | 'scheduled' | 'schedule' | 'operation'
const keyOf = (kind: Kind, name: string) => `${kind}/${name}`

export async function runCupcake(options: CupcakeOptions, signal: AbortSignal): Promise<void> {
  const { ports, cluster, metrics } = options
  const queue = new WorkQueue({ clock: ports.clock, random: ports.random, baseMs: 100, maxMs: 30_000 })
  const backups = new CupcakeBackups(ports, cluster, options.namespace)
  const watch = <F extends KubeObject>(type: ResourceType<F>, kind: Kind) =>
    new ForeignWatch({ ports, type, onChange: (key) => queue.add(keyOf(kind, key)) })
  const watches = {
    direct: new ForeignWatch({
      ports,
      type: cupcakeDirectUpdates,
      onChange: (key) => queue.add(keyOf('direct', key)),
      onServed: (until) => void backups.watch(() => queue.add(requests), until),
    }),
    scheduled: watch(cupcakeScheduledUpdates, 'scheduled'),
    schedule: watch(cupcakeUpdateSchedules, 'schedule'),
  }
  const operations = new CupcakeOperations(ports, cluster, metrics, backups)
  const bundles = new BundleMaps(ports, options.namespace)
  const carriers = {
    direct: directCarrier(options, watches.direct, bundles),
    scheduled: scheduledCarrier(options, watches.scheduled, bundles),
    schedule: scheduleCarrier(options, watches.schedule),
  }
  const stop = followCluster(cluster, operations, queue)
  const reconcile = async (key: string, until: AbortSignal) => {
    if (key === requests) {
      await backups.answer(until)
      return undefined
    }
    if (key === sweep) {
      await operations.sweep(until)
      return undefined
    }
    const [kind, name] = [key.slice(0, key.indexOf('/')) as Kind, key.slice(key.indexOf('/') + 1)]
    if (kind === 'operation') {
      await operations.follow(name, until)
      return undefined
    }
    const afterMs = await carriers[kind].reconcile(name, until)
    return afterMs === undefined ? undefined : { afterMs }
  }
  try {
    await Promise.all([
      ...Object.values(watches).map((each) => each.run(signal)),
      runController({ name: 'cupcake', queue, reconcile, workers, log: ports.log }, signal),
    ])
  } finally {
    stop()
    queue.clear()
  }
}

/** What of ours is theirs, and changed, wakes whoever tells of it. */
function followCluster(cluster: Cluster, operations: CupcakeOperations, queue: WorkQueue): () => void {
  const kinds: readonly (readonly [string, Kind])[] = [
    [cupcakeDirectUpdates.kind, 'direct'],
    [cupcakeScheduledUpdates.kind, 'scheduled'],
    [cupcakeUpdateSchedules.kind, 'schedule'],
  ]
  const wakeOwner = ({ metadata }: KubeObject, afterMs: number) => {
    for (const { apiVersion, kind, name } of metadata.ownerReferences ?? []) {
      const found = kinds.find(([theirs]) => theirs === kind && apiVersion === cupcakeDirectUpdates.apiVersion)
      if (found) queue.addAfter(keyOf(found[1], name), afterMs)
    }
  }
  const wakeUpdate = (update: DirectUpdate | undefined, afterMs: number) => {
    if (!update || !operations.isTheirs(update)) return
    wakeOwner(update, afterMs)
    queue.addAfter(keyOf('operation', update.metadata.name), afterMs)
  }
  const wakeNode = (name: string) => {
    const owner = cluster.states.get(name)?.status?.rollout?.update
    if (owner !== undefined) wakeUpdate(cluster.updates.get(owner), gatherMs)
  }
  const ends = [
    cluster.updates.subscribe(({ type, object }) => {
      wakeUpdate(object, 0)
      if (type === 'removed' && operations.isTheirs(object)) queue.addAfter(sweep, gatherMs)
    }),
    cluster.scheduledUpdates.subscribe(({ object }) => wakeOwner(object, 0)),
    cluster.updateSchedules.subscribe(({ object }) => wakeOwner(object, 0)),
    cluster.states.subscribe(({ key }) => wakeNode(key)),
    cluster.nodes.subscribe((change) => {
      if (change.type !== 'changed' || markedStatus(change.before) !== markedStatus(change.object)) wakeNode(change.key)
    }),
  ]
  for (const update of cluster.updates.values()) wakeUpdate(update, 0)
  queue.add(sweep)
  return () => {
    for (const end of ends) end()
  }
}
