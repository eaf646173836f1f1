// Where an air-gapped bundle lies: CUPCAKE's resources name a ConfigMap that says so.

import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { objectName } from '../../api/scalars.ts'
import type { OperatorPorts } from '../ports.ts'
import type { Bundle } from './cupcake-work.ts'

/** Where CUPCAKE itself looks. */
const theirNamespace = 'kube-system'
/** Resources are looked at far more often than bundles change. */
const keptMs = 15_000

export class BundleMaps {
  readonly #ports: OperatorPorts
  readonly #namespace: string
  readonly #known = new Map<string, { readonly untilMs: number; readonly bundle: Bundle }>()

  constructor(ports: OperatorPorts, namespace: string) {
    this.#ports = ports
    this.#namespace = namespace
  }

  async read(name: string, signal: AbortSignal): Promise<Bundle> {
    const nowMs = this.#ports.clock.monotonicMs()
    const known = this.#known.get(name)
    if (known && known.untilMs > nowMs) return known.bundle
    const bundle = await this.#look(name, signal)
    this.#known.set(name, { untilMs: nowMs + keptMs, bundle })
    return bundle
  }

  async #look(name: string, signal: AbortSignal): Promise<Bundle> {
    const field = 'spec.airGapped.bundleConfigMap'
    if (!objectName.safeParse(name).success) return { problem: `${field} "${name}" names no ConfigMap` }
    const places = [...new Set([this.#namespace, theirNamespace])]
    for (const namespace of places) {
      const data = await this.#dataOf({ name, namespace }, signal)
      if (!data) continue
      const { url, sha256 } = data
      if (url !== undefined && sha256 !== undefined) return { url: url.trim(), sha256: sha256.trim() }
      return { problem: `${field}: ConfigMap ${namespace}/${name} needs the keys url and sha256 of the bundle` }
    }
    const where = places.join(' or ')
    return {
      problem: `${field}: there is no ConfigMap ${name} in ${where} that may be read; make it with the keys url and sha256`,
    }
  }

  async #dataOf(
    ref: { readonly name: string; readonly namespace: string },
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      return (await this.#ports.api.get(configMaps, ref, signal)).data ?? {}
    } catch (error) {
      // An installation from before may not look into the other namespace.
      if (!isKubeError(error, 'NotFound', 'Forbidden')) throw error
      return undefined
    }
  }
}
