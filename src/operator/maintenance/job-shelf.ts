// The scripts of the policy's jobs, each as an immutable ConfigMap named by its content: the user's own may change or go.

import { type MaintenanceJob, type MaintenancePolicy, maintenancePolicies } from '../../api/maintenance-policy.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { adoptScript, publishScript, readScript } from '../update/script-content.ts'

export class JobShelf {
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #put = new Map<string, Promise<void>>()

  constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
  }

  /** Puts all that the jobs name where agents find it, each once a term; throws ScriptMissing or ScriptChanged. */
  async ensure(policy: MaintenancePolicy, jobs: readonly MaintenanceJob[], signal: AbortSignal): Promise<void> {
    const sources = jobs.flatMap(({ configMap, sha256, validate }) => [
      ...(configMap === undefined ? [] : [{ configMap, sha256 }]),
      ...(validate ? [validate] : []),
    ])
    for (const source of sources) {
      const key = `${policy.metadata.uid} ${source.sha256}`
      const putting = this.#put.get(key) ?? this.#shelve(policy, source, signal)
      this.#put.set(key, putting)
      try {
        await putting
      } catch (error) {
        this.#put.delete(key)
        throw error
      }
    }
  }

  async #shelve(
    { metadata }: MaintenancePolicy,
    { configMap, sha256 }: { readonly configMap: string; readonly sha256: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { apiVersion, kind } = maintenancePolicies
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
    if (await adoptScript(this.#api, this.#namespace, owner, sha256, signal)) return
    const content = await readScript(this.#api, this.#namespace, configMap, signal)
    const place = `ConfigMap ${this.#namespace}/${configMap}`
    const nextStep = 'correct spec.maintenance.jobs of MaintenancePolicy/default, or the ConfigMap'
    if (!content) throw new SlipwayError('ScriptMissing', `${place} is not there, or has no key "script"`, { nextStep })
    if (content.sha256 !== sha256) {
      const message = `${place} has SHA-256 ${content.sha256}, the policy names ${sha256}`
      throw new SlipwayError('ScriptChanged', message, { nextStep })
    }
    await publishScript(this.#api, this.#namespace, owner, content, signal)
  }
}
