// What the operator writes about a DirectUpdate: its status, its finalizer and its events. Each write is fenced by what was read.

import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { mergePatch } from '../../core/merge-patch.ts'
import { finalizer } from '../../core/update/operation.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { UpdateEvent } from './update-events.ts'

export class UpdateRecord {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #events: EventRecorder

  constructor(ports: OperatorPorts, cluster: Cluster, events: EventRecorder) {
    this.#ports = ports
    this.#cluster = cluster
    this.#events = events
  }

  /** `compute` makes the status from the update as it is known now. */
  async writeStatus(
    name: string,
    compute: (now: Date, latest: DirectUpdate) => DirectUpdateStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const latest = this.#cluster.updates.get(name)
    if (!latest) return
    const change = mergePatch(latest.status ?? {}, compute(this.#ports.clock.now(), latest))
    if (change !== undefined) await this.#patch(latest, { status: change }, signal, 'status')
  }

  async addFinalizer(update: DirectUpdate, signal: AbortSignal): Promise<void> {
    const { finalizers = [] } = update.metadata
    if (finalizers.includes(finalizer)) return
    await this.#patch(update, { metadata: { finalizers: [...finalizers, finalizer] } }, signal)
  }

  async dropFinalizer(update: DirectUpdate, signal: AbortSignal): Promise<void> {
    const kept = (update.metadata.finalizers ?? []).filter((entry) => entry !== finalizer)
    await this.#patch(update, { metadata: { finalizers: kept.length > 0 ? kept : null } }, signal)
  }

  say({ metadata }: DirectUpdate, { type, reason, action, note }: UpdateEvent): void {
    const { apiVersion, kind } = directUpdates
    const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
    this.#events.record({ regarding, type, reason, action, note: note.slice(0, 1000) })
  }

  async #patch(
    { metadata }: DirectUpdate,
    change: { readonly metadata?: object; readonly status?: unknown },
    signal: AbortSignal,
    subResource?: 'status',
  ): Promise<void> {
    const { name, uid, resourceVersion } = metadata
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
    try {
      this.#cluster.updates.learn(
        await this.#ports.api.patch(directUpdates, { name }, { type: 'merge', body }, signal, subResource),
      )
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }
}
