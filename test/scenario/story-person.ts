// A person with kubectl.

import {
  configMaps,
  type KubeObject,
  nodes,
  type PodDisruptionBudget,
  type PodSpec,
  podDisruptionBudgets,
  pods,
  type ResourceType,
} from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import type { KubeApi, ObjectRef, Unsaved } from '../../src/ports/kube-api.ts'
import { createWorkload, ensureNamespace, type WorkloadOptions } from '../../src/sim/workloads.ts'

export const shop = 'shop'

export class Person {
  readonly #api: KubeApi
  readonly #signal: AbortSignal

  constructor(api: KubeApi, signal: AbortSignal) {
    this.#api = api
    this.#signal = signal
  }

  async cordons(node: string): Promise<void> {
    await this.#change(nodes, { name: node }, { spec: { unschedulable: true } })
  }

  async uncordons(node: string): Promise<void> {
    await this.#change(nodes, { name: node }, { spec: { unschedulable: null } })
  }

  async labels(node: string, labels: Readonly<Record<string, string>>): Promise<void> {
    await this.#change(nodes, { name: node }, { metadata: { labels } })
  }

  async annotates<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    await this.#change(type, { name }, { metadata: { annotations } })
  }

  async storesScript(name: string, namespace: string, script: string): Promise<void> {
    const { apiVersion, kind } = configMaps
    await this.#api.create(
      configMaps,
      { apiVersion, kind, metadata: { name, namespace }, data: { script } },
      this.#signal,
    )
  }

  async deletesNode(name: string): Promise<void> {
    await this.deletes(nodes, { name })
  }

  async deletesPolicy(): Promise<void> {
    await this.deletes(maintenancePolicies, { name: policyName })
  }

  async creates<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>): Promise<void> {
    const { apiVersion, kind } = type
    await this.#api.create(type, { ...object, apiVersion, kind }, this.#signal)
  }

  async deletes<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): Promise<void> {
    await this.#api.delete(type, ref, {}, this.#signal)
  }

  /** The operator makes the policy where there is none; a person may come first. */
  async setsPolicy(spec: MaintenancePolicy['spec']): Promise<void> {
    const { apiVersion, kind } = maintenancePolicies
    try {
      await this.#change(maintenancePolicies, { name: policyName }, { spec })
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
      const policy = { apiVersion, kind, metadata: { name: policyName }, spec }
      await this.#api.create(maintenancePolicies, policy, this.#signal)
    }
  }

  /** A Deployment in the namespace `shop`. */
  async deploys(workload: Omit<WorkloadOptions, 'namespace'>): Promise<void> {
    await ensureNamespace(this.#api, shop, this.#signal)
    await createWorkload(this.#api, { namespace: shop, ...workload }, this.#signal)
  }

  async createsBudget(name: string, spec: PodDisruptionBudget['spec']): Promise<void> {
    await this.#api.create(podDisruptionBudgets, { metadata: { name, namespace: shop }, spec }, this.#signal)
  }

  /** A pod that nothing would make again. */
  async createsPod(name: string, nodeName: string, more: Partial<PodSpec> = {}): Promise<void> {
    await ensureNamespace(this.#api, shop, this.#signal)
    const spec = { nodeName, containers: [{ name: 'main', image: 'pretend' }], ...more }
    await this.#api.create(pods, { metadata: { name, namespace: shop }, spec }, this.#signal)
  }

  /** Namespaced things are those of the namespace `shop`. */
  async changes<T extends KubeObject>(type: ResourceType<T>, name: string, body: object): Promise<void> {
    await this.#change(type, type.namespaced ? { name, namespace: shop } : { name }, body)
  }

  async #change<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, body: object): Promise<void> {
    await this.#api.patch(type, ref, { type: 'merge', body: { ...body } }, this.#signal)
  }
}
