// The cluster as it was committed, kept for those who judge a run: read off the writes themselves, not off what any part
// of Slipway believes.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { KubeObject, Node } from '../../api/kube.ts'
import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { CommittedChange } from '../server/object-store.ts'

export interface NodeRecord {
  readonly node: Node
  /** Since when nothing new can run there; undefined while it is available. */
  readonly unavailableSince: number | undefined
  readonly notReadySince: number | undefined
  /** A cordon that is not ours. */
  readonly personsCordon: boolean
}

export const cordonMark = 'slipway.dev/cordon'

export class Truth {
  readonly nodes = new Map<string, NodeRecord>()
  readonly states = new Map<string, NodeState>()
  readonly updates = new Map<string, DirectUpdate>()
  /** When a node's rollout entered its present phase. */
  readonly phaseSince = new Map<string, number>()
  /** The highest epoch any order ever carried: what fences, fences against these. */
  epoch = 0
  /** The slots as last written: a ledger that was deleted does not give them back. */
  grants: readonly Grant[] = []

  note({ kind, type, before, after, time }: CommittedChange): void {
    const object: KubeObject | undefined = after ?? before
    if (!object) return
    const { name } = object.metadata
    switch (kind) {
      case 'Node':
        if (type === 'deleted') this.nodes.delete(name)
        else this.nodes.set(name, this.#nodeRecord(name, object as Node, time))
        return
      case 'NodeState': {
        const state = object as NodeState
        this.epoch = Math.max(this.epoch, state.spec.order?.epoch ?? 0)
        const phase = this.states.get(name)?.status?.rollout?.phase
        if (type === 'deleted') this.states.delete(name)
        else this.states.set(name, state)
        if (type === 'deleted' || state.status?.rollout?.phase !== phase) this.phaseSince.set(name, time)
        return
      }
      case 'DirectUpdate':
        if (type === 'deleted') this.updates.delete(name)
        else this.updates.set(name, object as DirectUpdate)
        return
      case 'MaintenancePolicy':
        this.grants = (object as MaintenancePolicy).status?.ledger?.grants ?? this.grants
    }
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
    }
  }
}

export function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

export function isControlPlane(node: Node): boolean {
  return node.metadata.labels?.['node-role.kubernetes.io/control-plane'] !== undefined
}
