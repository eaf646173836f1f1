// What each receiver was told, in the policy's status. Written with the version that was read, as the ledger beside it is.

import { isKubeError } from '../../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import type { Receiver, ReceiverRecord } from '../../api/notification.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'

export class ReceiverRecords {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster

  constructor(ports: OperatorPorts, cluster: Cluster) {
    this.#ports = ports
    this.#cluster = cluster
  }

  /** The record of a receiver; one that is new is told what happens from now on. */
  async of(receiver: string, signal: AbortSignal): Promise<ReceiverRecord | undefined> {
    const find = () => this.#known().find((record) => record.receiver === receiver)
    if (!find())
      await this.write(receiver, { receiver, since: this.#ports.clock.now().toISOString(), told: [] }, signal)
    return find()
  }

  async write(receiver: string, record: ReceiverRecord, signal: AbortSignal): Promise<void> {
    const write = () => [...this.#known().filter((known) => known.receiver !== receiver), record]
    // Somebody else wrote the policy meanwhile, the ledger most likely: what is kept here is nobody else's.
    for (let tries = 0; ; tries++) {
      try {
        await this.#patch(write(), signal)
        return
      } catch (error) {
        if (!isKubeError(error, 'Conflict') || tries === 3) throw error
        this.#cluster.policies.learn(await this.#ports.api.get(maintenancePolicies, { name: policyName }, signal))
      }
    }
  }

  /** Receivers that the policy does not name any more are forgotten. */
  async keepOnly(receivers: readonly Receiver[], signal: AbortSignal): Promise<void> {
    const known = this.#known()
    const kept = known.filter(({ receiver }) => receivers.some(({ name }) => name === receiver))
    if (kept.length < known.length) await this.#patch(kept, signal)
  }

  #known(): readonly ReceiverRecord[] {
    return this.#cluster.writablePolicy?.status?.notifications ?? []
  }

  async #patch(notifications: readonly ReceiverRecord[], signal: AbortSignal): Promise<void> {
    const { writablePolicy: policy } = this.#cluster
    if (!policy) return
    const { uid, resourceVersion } = policy.metadata
    const body = { metadata: { uid, resourceVersion }, status: { notifications } }
    const patch = { type: 'merge', body } as const
    const written: MaintenancePolicy = await this.#ports.api.patch(
      maintenancePolicies,
      { name: policyName },
      patch,
      signal,
      'status',
    )
    this.#cluster.policies.learn(written)
  }
}
