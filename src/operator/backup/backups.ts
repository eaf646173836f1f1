// All backups of etcd that the leader sees to. One pass looks at those of updates first, then at the stores' own; every question it
// asks of a host is on record before, so whoever leads next goes on from there.

import { backupAnnotation } from '../../api/backup-plan.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { KubeObject, Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { BackupHost } from '../../core/backup/host-choice.ts'
import type { Question } from '../../core/backup/run.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { cordonOwner, isReady } from '../../core/node/node-facts.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Change } from '../../kube/store.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { LastCheck } from '../update/terms.ts'
import { UpdateRecord } from '../update/update-record.ts'
import { BackupDesk, neededSecrets } from './backup-desk.ts'
import { backupHosts } from './backup-hosts.ts'
import { eachInTurn } from './backup-parts.ts'
import { StoreBackups } from './store-backups.ts'
import { UpdateBackups } from './update-backups.ts'

export interface BackupsOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly namespace: string
  readonly holderOf: (node: string) => string | undefined
  readonly wakeGrants: () => void
}

const pass = 'pass'
/** A timer of weeks is no use: clocks are set, and the wall clock is what counts. */
const longestMs = 10 * 60_000

export class Backups {
  readonly queue: WorkQueue
  readonly #options: BackupsOptions
  readonly #desk: BackupDesk
  readonly #updates: UpdateBackups
  readonly #stores: StoreBackups

  constructor(options: BackupsOptions) {
    const { ports, cluster, events, namespace, wakeGrants } = options
    this.#options = options
    this.queue = new WorkQueue({ clock: ports.clock, random: ports.random, baseMs: 20, maxMs: 15_000 })
    this.#desk = new BackupDesk(ports, cluster, namespace)
    const parts = {
      ...{ ports, cluster, wakeGrants, desk: this.#desk },
      hosts: () => this.#hosts(),
      needsKey: (store: Parameters<typeof neededSecrets>[0]) =>
        neededSecrets(store, cluster.policy?.spec.etcd).length > 0,
      updateNext: () => this.#updates.next(),
      wake: () => this.#wake(),
    }
    this.#updates = new UpdateBackups(parts, new UpdateRecord(ports, cluster, events))
    this.#stores = new StoreBackups(parts, events)
  }

  /** Why a node of the update may not be taken before a backup is made. Ask it last: asking starts one. */
  obstacle(update: string, check: LastCheck): Reason | undefined {
    return this.#updates.obstacle(update, check)
  }

  readonly reconcile: Reconcile = async (_key, signal) => {
    await this.#desk.withdraw(this.#hosts(), new Set(this.#questions().map(({ request }) => request)), signal)
    const { policy } = this.#options.cluster
    if (policy) await this.#desk.forget(this.#hosts(), policy.spec.backupStores ?? [], signal)
    const makers = [this.#updates, this.#stores]
    const waits = await eachInTurn(makers, async (maker) => soonest(await maker.advance(signal)))
    if (waits.length === 0) return undefined
    const nowMs = this.#options.ports.clock.now().getTime()
    return { afterMs: Math.min(longestMs, Math.max(1, Math.min(...waits) - nowMs)) }
  }

  /** From now on whatever concerns backups is looked at. */
  follow(): void {
    const { cluster, wakeGrants } = this.#options
    cluster.states.subscribe((change) => {
      if (cluster.controlPlane.has(change.key) && differs(change, aboutHost)) this.#wake()
    })
    cluster.nodes.subscribe((change) => {
      if (cluster.controlPlane.has(change.key) && differs(change, aboutNode)) this.#wake()
    })
    cluster.updates.subscribe((change) => {
      const { type, object } = change
      // What was recorded lets nodes go, also where the write of it seemed to fail.
      if (type === 'changed' && !equalJson(change.before.status?.backups, object.status?.backups)) wakeGrants()
      const concerns = object.status?.backupRun !== undefined || this.#updates.isWanted(change.key)
      if (concerns && differs(change, aboutUpdate)) this.#wake()
    })
    cluster.policies.subscribe((change) => {
      if (differs(change, (policy) => [aboutPolicy(policy), this.#slots(policy)])) this.#wake()
    })
    this.#wake()
  }

  #wake(): void {
    this.queue.add(pass)
  }

  #questions(): readonly Question[] {
    return [...this.#updates.questions(), ...this.#stores.questions()]
  }

  /** Of hosts that could be asked: one that is under work is not, until its slot is back. */
  #slots({ status }: MaintenancePolicy): readonly string[] {
    const nodes = status?.ledger?.grants.map(({ node }) => node) ?? []
    return nodes.filter((node) => this.#options.cluster.controlPlane.has(node))
  }

  /** A host that is on record for a backup is not asked for another, whether or not the question stands there already. */
  #hosts(): readonly BackupHost[] {
    const { cluster, holderOf } = this.#options
    const reserved = new Set(this.#questions().map(({ node }) => node))
    return backupHosts(cluster, holderOf).map((host) => ({ ...host, isReserved: reserved.has(host.name) }))
  }
}

function aboutHost({ spec, status }: NodeState): unknown {
  const { drivers, publicKey, backup, backupStore, controlPlane } = status?.agent ?? {}
  return [spec.backup?.request, spec.forgetStore, drivers, publicKey, backup, backupStore, controlPlane?.etcd]
}

function aboutNode(node: Node): unknown {
  return [isReady(node), cordonOwner(node)]
}

function aboutUpdate({ metadata, spec, status }: DirectUpdate): unknown {
  return [status?.operationID, status?.backupRun, status?.phase, spec, metadata.deletionTimestamp]
}

function aboutPolicy({ metadata, spec, status }: MaintenancePolicy): unknown {
  return [metadata.annotations?.[backupAnnotation], spec.backupStores, spec.etcd, spec.datastore, status?.backups]
}

/** Whether what is looked at is another than before; an object that came or went is. */
function differs<T extends KubeObject>(change: Change<T>, of: (object: T) => unknown): boolean {
  return change.type !== 'changed' || !equalJson(of(change.before), of(change.object))
}

function soonest(waits: readonly number[]): number | undefined {
  return waits.length > 0 ? Math.min(...waits) : undefined
}
