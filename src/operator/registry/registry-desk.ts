// Asks registries as the MaintenancePolicy says. Secrets are read when they are needed and not kept.

import type { Referrer } from '../../api/image-signature.ts'
import { type Secret, secrets } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { RegistrySettings } from '../../api/registry-settings.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { credentialsIn } from '../../core/image/docker-config.ts'
import { parseImageReference } from '../../core/image/reference.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { FoundImage, Registry, RegistryAccess, RegistryCredentials } from '../../ports/registry.ts'
import type { Cluster } from '../cluster/cluster.ts'

export interface RegistryDeskOptions {
  readonly api: KubeApi
  readonly registry: Registry
  readonly cluster: Pick<Cluster, 'policy'>
  readonly namespace: string
}

/** The errors of the port, and RegistrySecretMissing. */
export class RegistryDesk {
  readonly #options: RegistryDeskOptions

  constructor(options: RegistryDeskOptions) {
    this.#options = options
  }

  async tags(repository: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.registry.tags(repository, await this.#accessTo(repository, signal), signal)
  }

  async look(reference: string, signal: AbortSignal): Promise<FoundImage> {
    return this.#options.registry.look(reference, await this.#accessTo(reference, signal), signal)
  }

  async referrers(repository: string, digests: readonly string[], signal: AbortSignal): Promise<readonly Referrer[]> {
    return this.#options.registry.referrers(repository, digests, await this.#accessTo(repository, signal), signal)
  }

  async #accessTo(reference: string, signal: AbortSignal): Promise<RegistryAccess> {
    const host = parseImageReference(reference)?.name.split('/')[0] ?? ''
    const own = this.#settingsOf(host)
    const { mirrors = [], plain } = own ?? {}
    return {
      ...(await this.#credentialsOf(own, host, signal)),
      ...(plain !== undefined && { plain }),
      mirrors: await Promise.all(
        mirrors.map(async (url) => {
          const mirror = new URL(url).host
          return { url, ...(await this.#credentialsOf(this.#settingsOf(mirror), mirror, signal)) }
        }),
      ),
    }
  }

  #settingsOf(host: string): RegistrySettings | undefined {
    return this.#options.cluster.policy?.spec.registries?.find((one) => one.host === host)
  }

  async #credentialsOf(
    settings: RegistrySettings | undefined,
    host: string,
    signal: AbortSignal,
  ): Promise<RegistryCredentials> {
    if (!settings) return {}
    const { secret, ca } = settings
    const pair = secret === undefined ? undefined : await this.#pairIn(secret, host, signal)
    return { ...pair, ...(ca !== undefined && { ca }) }
  }

  async #pairIn(name: string, host: string, signal: AbortSignal): Promise<RegistryCredentials> {
    const { api, namespace } = this.#options
    let secret: Secret
    try {
      secret = await api.get(secrets, { namespace, name }, signal)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) throw missing(`Secret ${namespace}/${name} for ${host} is not there`)
      throw error
    }
    const data = Object.entries(secret.data ?? {}).map(([key, text]) => [
      key,
      Buffer.from(text, 'base64').toString('utf8'),
    ])
    const pair = credentialsIn(Object.fromEntries(data), host)
    if (!pair) {
      const wanted = 'it needs the keys username and password, or a .dockerconfigjson with an entry for that host'
      throw missing(`Secret ${namespace}/${name} holds no credentials for ${host}: ${wanted}`)
    }
    return pair
  }
}

function missing(message: string): SlipwayError {
  return new SlipwayError('RegistrySecretMissing', message, {
    nextStep: 'create the Secret, or correct spec.registries of MaintenancePolicy/default; it is looked at again',
  })
}
