// The cluster as it was committed, kept for those who judge a run: read off the writes themselves, not off what any part
// of Slipway believes.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { DrainSettings } from '../../api/drain-settings.ts'
import type { KubeObject, Node } from '../../api/kube.ts'
import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import { kuredAnnotation, kuredPlace } from '../kured.ts'
import { sameJson } from '../server/json.ts'
import type { CommittedChange } from '../server/object-store.ts'

export interface NodeRecord {
  readonly node: Node
  /** Since when nothing new can run there; undefined while it is available. */
  readonly unavailableSince: number | undefined
  readonly notReadySince: number | undefined
  /** A cordon that is not ours. */
  readonly personsCordon: boolean
  /** Its labels before they were last changed, and when that was. */
  readonly relabelled: { readonly from: Labels; readonly at: number } | undefined
}

export type Labels = Readonly<Record<string, string>>

export const cordonMark = 'slipway.dev/cordon'
export const otherMarks = 'slipway.dev/marks'
export const underMaintenance = 'k8s.io/maintenance-in-progress'
export const waitingMark = 'slipway.dev/maintenance-waiting'

export class Truth {
  readonly nodes = new Map<string, NodeRecord>()
  readonly states = new Map<string, NodeState>()
  readonly updates = new Map<string, DirectUpdate>()
  /** Nodes that nothing new can run on, those of the control plane, and those whose rollout failed or needs a person. */
  readonly unavailable = new Set<string>()
  readonly controlPlane = new Set<string>()
  readonly failed = new Set<string>()
  /** When an update's spec was last written. */
  readonly specSince = new Map<string, number>()
  /** As many workers as there ever were: percentages may be taken of nodes whose deletion is not known yet. */
  workers = 0
  /** When a node's rollout entered its present phase. */
  readonly phaseSince = new Map<string, number>()
  /** Orders that were ever let run, as `node order`; the others only staged, which disturbs nobody. */
  readonly released = new Set<string>()
  /** The highest epoch any order ever carried: what fences, fences against these. */
  epoch = 0
  /** What agents said they have stored and checked, as `store sha256`. */
  readonly stored = new Set<string>()
  /** Backup stores of the policy, and since when they are these. */
  stores: { readonly names: readonly string[]; readonly since: number } = { names: [], since: 0 }
  /** Whether we have the lock of kured. */
  isLockOurs = false
  /** The slots as last written: a ledger that was deleted does not give them back. */
  grants: readonly Grant[] = []

  #policyForces = false

  /** Whether any settings in force let pods be deleted in spite of their budgets. */
  get mayForce(): boolean {
    return this.#policyForces || [...this.updates.values()].some(({ spec }) => forces(spec.drain))
  }

  note({ kind, type, before, after, time }: CommittedChange): void {
    const object: KubeObject | undefined = after ?? before
    if (!object) return
    const { name } = object.metadata
    switch (kind) {
      case 'Node':
        this.#noteNode(name, type === 'deleted' ? undefined : (object as Node), time)
        return
      case 'NodeState': {
        const state = object as NodeState
        if (state.spec.order?.desired === 'Run') this.released.add(`${name} ${state.spec.order.id}`)
        this.epoch = Math.max(this.epoch, state.spec.order?.epoch ?? 0)
        const { backup } = state.status?.agent ?? {}
        if (backup?.state === 'Succeeded') this.stored.add(`${backup.store} ${backup.manifest?.sha256}`)
        const phase = this.states.get(name)?.status?.rollout?.phase
        if (type === 'deleted') this.states.delete(name)
        else this.states.set(name, state)
        const now = type === 'deleted' ? undefined : state.status?.rollout?.phase
        mark(this.failed, name, now === 'Failed' || now === 'RequiresAttention')
        if (type === 'deleted' || state.status?.rollout?.phase !== phase) this.phaseSince.set(name, time)
        return
      }
      case 'DirectUpdate':
        if (object.metadata.generation !== this.updates.get(name)?.metadata.generation) this.specSince.set(name, time)
        if (type === 'deleted') this.updates.delete(name)
        else this.updates.set(name, object as DirectUpdate)
        return
      case 'DaemonSet': {
        const lock = type === 'deleted' ? undefined : object.metadata.annotations?.[kuredAnnotation]
        if (name === kuredPlace.name) this.isLockOurs = lock?.includes('"slipway"') ?? false
        return
      }
      case 'MaintenancePolicy':
        this.grants = (object as MaintenancePolicy).status?.ledger?.grants ?? this.grants
        this.#policyForces = forces((object as MaintenancePolicy).spec.drain)
        this.#noteStores(type === 'deleted' ? undefined : (object as MaintenancePolicy), time)
    }
  }

  #noteStores(policy: MaintenancePolicy | undefined, since: number): void {
    const names = (policy?.spec.backupStores ?? []).map(({ name }) => name)
    if (names.join() !== this.stores.names.join()) this.stores = { names, since }
  }

  #noteNode(name: string, node: Node | undefined, time: number): void {
    const record = node && this.#nodeRecord(name, node, time)
    if (record) this.nodes.set(name, record)
    else this.nodes.delete(name)
    mark(this.unavailable, name, record?.unavailableSince !== undefined)
    mark(this.controlPlane, name, node !== undefined && isControlPlane(node))
    this.workers = Math.max(this.workers, this.nodes.size - this.controlPlane.size)
  }

  #nodeRecord(name: string, node: Node, time: number): NodeRecord {
    const old = this.nodes.get(name)
    const ready = isReady(node)
    const unavailable = !ready || node.spec.unschedulable === true || node.metadata.deletionTimestamp !== undefined
    const ours = node.metadata.annotations?.[cordonMark] !== undefined
    const cordoned = node.spec.unschedulable === true
    return {
      node,
      unavailableSince: unavailable ? (old?.unavailableSince ?? time) : undefined,
      notReadySince: ready ? undefined : (old?.notReadySince ?? time),
      personsCordon: cordoned && !ours,
      relabelled: relabelled(old, node, time),
    }
  }
}

function relabelled(old: NodeRecord | undefined, { metadata }: Node, at: number): NodeRecord['relabelled'] {
  const from = old?.node.metadata.labels ?? {}
  return old && !sameJson(from, metadata.labels ?? {}) ? { from, at } : old?.relabelled
}

function forces(drain: DrainSettings | undefined): boolean {
  return drain?.onTimeout === 'Force' || (drain?.rules?.some(({ action }) => action === 'Force') ?? false)
}

function mark(set: Set<string>, name: string, member: boolean): void {
  if (member) set.add(name)
  else set.delete(name)
}

function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

function isControlPlane(node: Node): boolean {
  return node.metadata.labels?.['node-role.kubernetes.io/control-plane'] !== undefined
}
