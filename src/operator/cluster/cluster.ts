// What the leader knows of the cluster: stores filled by watches, and the few sets that every grant needs, kept up to date
// change by change so that no decision walks over all nodes.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import type { KubeObject } from '../../api/kube.ts'
import { type Node, nodes, type Pod, pods, type ResourceType } from '../../api/kube.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { type NodeProfile, nodeProfiles } from '../../api/node-profile.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { type ScheduledUpdate, scheduledUpdates, type UpdateSchedule, updateSchedules } from '../../api/schedule.ts'
import { isReady, isUnavailable, roleOf, takesPods } from '../../core/node/node-facts.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { Selection } from '../../ports/kube-api.ts'
import type { OperatorPorts } from '../ports.ts'
import { slimNode } from './slim-node.ts'

export const operatorPodSelector = 'app.kubernetes.io/name=slipway,app.kubernetes.io/component=operator'

export class Cluster {
  readonly nodes = new Store<Node>()
  readonly states = new Store<NodeState>()
  readonly updates = new Store<DirectUpdate>()
  readonly profiles = new Store<NodeProfile>()
  readonly scheduledUpdates = new Store<ScheduledUpdate>()
  readonly updateSchedules = new Store<UpdateSchedule>()
  readonly policies = new Store<MaintenancePolicy>()
  /** The operator's own replicas: where they run decides which node goes last. */
  readonly operatorPods = new Store<Pod>()
  #lastPolicy: MaintenancePolicy | undefined
  readonly #unavailable = new Set<string>()
  readonly #takingPods = new Set<string>()
  readonly #controlPlane = new Set<string>()
  readonly #reflectors: {
    run(signal: AbortSignal): Promise<void>
    synced(signal: AbortSignal): Promise<void>
    silentMs(): number
  }[]

  constructor(ports: OperatorPorts, namespace: string) {
    const reflect = <T extends KubeObject>(
      type: ResourceType<T>,
      store: Store<T>,
      selection: Selection = {},
      transform?: (object: T) => T,
    ) => {
      const onFailure = (failure: unknown) => {
        if (failure !== undefined) ports.metrics?.add('slipway_watch_failures_total', { resource: type.plural })
      }
      return new Reflector<T>({ ...ports, type, store, selection, onFailure, ...(transform && { transform }) })
    }
    this.nodes.subscribe((change) => this.#note(change.key, change.type === 'removed' ? undefined : change.object))
    this.policies.subscribe((change) => {
      if (change.type !== 'removed') this.#lastPolicy = change.object
    })
    this.#reflectors = [
      reflect(nodes, this.nodes, {}, slimNode),
      reflect(nodeStates, this.states),
      reflect(directUpdates, this.updates),
      reflect(nodeProfiles, this.profiles),
      reflect(scheduledUpdates, this.scheduledUpdates),
      reflect(updateSchedules, this.updateSchedules),
      reflect(maintenancePolicies, this.policies),
      reflect(pods, this.operatorPods, { namespace, labelSelector: operatorPodSelector }),
    ]
  }

  /** One that was deleted is in force until it is made anew: it may be on its way back, and it may say that nothing is allowed. */
  get policy(): MaintenancePolicy | undefined {
    return this.writablePolicy ?? this.#lastPolicy
  }

  /** For those who write to it: undefined while it is gone. */
  get writablePolicy(): MaintenancePolicy | undefined {
    return this.policies.get(policyName)
  }

  /** Nodes that nothing new can run on, whatever the cause. */
  get unavailable(): ReadonlySet<string> {
    return this.#unavailable
  }

  /** Nodes that ordinary pods can go to while they are up. */
  get takingPods(): ReadonlySet<string> {
    return this.#takingPods
  }

  get controlPlane(): ReadonlySet<string> {
    return this.#controlPlane
  }

  isReady(name: string): boolean {
    const node = this.nodes.get(name)
    return node !== undefined && isReady(node)
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)))
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.synced(signal)))
  }

  /** How long the least lively watch has been silent. */
  silentMs(): number {
    return Math.max(...this.#reflectors.map((reflector) => reflector.silentMs()))
  }

  #note(name: string, node: Node | undefined): void {
    mark(this.#unavailable, name, node !== undefined && isUnavailable(node))
    mark(this.#takingPods, name, node !== undefined && takesPods(node))
    mark(this.#controlPlane, name, node !== undefined && roleOf(node) === 'ControlPlane')
  }
}

function mark(set: Set<string>, name: string, member: boolean): void {
  if (member) set.add(name)
  else set.delete(name)
}
