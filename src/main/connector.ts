// The way to the API server, from flags and environment; every role takes it from here.

import type { Connection } from '../cli/dependencies.ts'
import type { RequestRecord } from '../kube/http/http-client.ts'
import type { HttpKubeApi } from '../kube/http/http-kube-api.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

export interface ConnectorOptions {
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface ConnectSettings extends Connection {
  /** Who asks, as the API server's audit log will show it. */
  readonly component: string
  /** How long one attempt may take, and how long what may be repeated is repeated. */
  readonly timeoutMs?: number
  readonly retryForMs?: number
  readonly onRequest?: (record: RequestRecord) => void
}

/** Hands out clients and closes them all at the end. */
export class Connector {
  readonly #options: ConnectorOptions
  readonly #open: HttpKubeApi[] = []

  constructor(options: ConnectorOptions) {
    this.#options = options
  }

  async connect(settings: ConnectSettings): Promise<HttpKubeApi> {
    const { kubeconfig, context, component, ...limits } = settings
    const { clock, random, version } = this.#options
    const connection = await this.#connection({ kubeconfig, context })
    const api = new (await import('../kube/http/http-kube-api.ts')).HttpKubeApi({
      connection,
      clock,
      random,
      userAgent: `slipway/${version} (${component})`,
      ...limits,
    })
    this.#open.push(api)
    return api
  }

  /** What a person calls the cluster, and where it is. */
  async describe(connection: Connection): Promise<{ readonly name: string; readonly server: string }> {
    const { server, context } = await this.#connection(connection)
    return { name: context ?? new URL(server).hostname, server }
  }

  async contexts({ kubeconfig }: Connection): Promise<readonly string[]> {
    const { contextNames, kubeconfigPaths } = await import('../adapters/kubeconfig/kubeconfig-files.ts')
    return contextNames(kubeconfigPaths(kubeconfig, this.#options.env))
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((api) => api.close()))
  }

  async #connection({ kubeconfig, context }: Connection) {
    const { clock, env } = this.#options
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
    const named = kubeconfig !== undefined || context !== undefined || env.KUBECONFIG !== undefined
    // Loaded when asked for: within a cluster nobody needs to read YAML, and --help needs no client at all.
    if (!named && host !== undefined) {
      const { inClusterConnection } = await import('../adapters/kubeconfig/in-cluster-connection.ts')
      return inClusterConnection({ host, port, clock })
    }
    const { kubeconfigPaths } = await import('../adapters/kubeconfig/kubeconfig-files.ts')
    const { kubeconfigConnection } = await import('../adapters/kubeconfig/kubeconfig-connection.ts')
    return kubeconfigConnection({ paths: kubeconfigPaths(kubeconfig, env), context, env, clock })
  }
}
