// Answers CUPCAKE's requests for backups: watches its ConfigMaps while its kinds are installed, asks on the policy, writes the
// answer, and takes the request away, as its agent did.

import { backupAnnotation } from '../../api/backup-plan.ts'
import { cupcakeBackupSelector } from '../../api/cupcake-backup.ts'
import { type ConfigMap, configMaps, type OwnerReference } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import { type BackupReply, decideBackup, readBackupRequest } from './cupcake-backup.ts'

export class CupcakeBackups {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #namespace: string
  readonly #requests = new Store<ConfigMap>()
  readonly #replied = new Set<string>()

  constructor(ports: OperatorPorts, cluster: Cluster, namespace: string) {
    this.#ports = ports
    this.#cluster = cluster
    this.#namespace = namespace
  }

  /** Until aborted. */
  async watch(wake: () => void, signal: AbortSignal): Promise<void> {
    const unsubscribe = [this.#requests.subscribe(wake), this.#cluster.policies.subscribe(wake)]
    const selection = { namespace: this.#namespace, labelSelector: cupcakeBackupSelector }
    try {
      await new Reflector({ ...this.#ports, type: configMaps, store: this.#requests, selection }).run(signal)
    } finally {
      for (const end of unsubscribe) end()
      this.#requests.replaceAll([])
    }
  }

  async answer(signal: AbortSignal): Promise<void> {
    for (const map of [...this.#requests.values()]) {
      const request = readBackupRequest(map)
      if (!request) continue
      const { writablePolicy: policy } = this.#cluster
      const action = decideBackup(map, request, policy, this.#ports.clock.now())
      switch (action.action) {
        case 'wait':
          break
        case 'ask':
          if (policy) await this.#ask(policy.metadata, action.annotation, signal)
          break
        case 'answer':
          await this.reply(action.reply, undefined, signal)
          await this.#takeAway(map, signal)
          break
      }
    }
  }

  /** Written once a leader; what stands there already is brought up to date. */
  async reply({ name, data }: BackupReply, owner: OwnerReference | undefined, signal: AbortSignal): Promise<void> {
    const key = JSON.stringify([name, data])
    if (this.#replied.has(key)) return
    const { apiVersion, kind } = configMaps
    const namespace = this.#namespace
    const metadata = { name, namespace, ...(owner && { ownerReferences: [owner] }) }
    try {
      await this.#ports.api.create(configMaps, { apiVersion, kind, metadata, data }, signal)
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
      await this.#ports.api.patch(configMaps, { name, namespace }, { type: 'merge', body: { data } }, signal)
    }
    this.#replied.add(key)
  }

  async #ask(
    { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
    annotation: string,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { metadata: { uid, resourceVersion, annotations: { [backupAnnotation]: annotation } } }
    this.#cluster.policies.learn(
      await this.#ports.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal),
    )
  }

  async #takeAway({ metadata }: ConfigMap, signal: AbortSignal): Promise<void> {
    const { name, uid } = metadata
    try {
      await this.#ports.api.delete(configMaps, { name, namespace: this.#namespace }, { uid }, signal)
    } catch (error) {
      // Gone already, or another by now: that one is a request of its own.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
    }
    this.#requests.remove(`${this.#namespace}/${name}`)
  }
}
