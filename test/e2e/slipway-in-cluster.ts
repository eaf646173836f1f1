// Slipway as its users install it: the image of a release, and the chart.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../src/api/direct-update.ts'
import type { KubeObject, ResourceType } from '../../src/api/kube.ts'
import { type NodeState, nodeStates } from '../../src/api/node-state.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { realClient } from '../apiserver/real-client.ts'
import { chart, runHelm } from '../bed/helm.ts'
import type { KubeadmCluster } from '../bed/kubeadm-cluster.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
export const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  readonly version: string
}
/** Made once, before the first test: two files that make it at once would take it away from each other. */
export const releasedImage = join(project, `dist/image/slipway-${version}-image.tar`)
const lookEveryMs = 500
const namespace = 'slipway-system'

/** The arguments of Helm for the one release of a cluster. */
function release(verb: 'install' | 'upgrade', { kubeconfigPath }: KubeadmCluster): readonly string[] {
  return [verb, 'slipway', chart, '--namespace', namespace, '--kubeconfig', kubeconfigPath]
}

export class SlipwayInCluster {
  readonly cluster: KubeadmCluster
  readonly api: KubeApi

  private constructor(cluster: KubeadmCluster, api: KubeApi) {
    this.cluster = cluster
    this.api = api
  }

  static async install(cluster: KubeadmCluster): Promise<SlipwayInCluster> {
    await cluster.importImage(releasedImage)
    await runHelm([...release('install', cluster), '--create-namespace'])
    return await SlipwayInCluster.reach(cluster)
  }

  /** One that was installed. */
  static async reach(cluster: KubeadmCluster): Promise<SlipwayInCluster> {
    const { api } = await realClient(cluster.kubeconfigPath)
    const slipway = new SlipwayInCluster(cluster, api)
    await slipway.until('every agent has reported', 120_000, async () => {
      const states = await slipway.states()
      return states.length === cluster.nodes.length && states.every(({ status }) => status?.agent !== undefined)
    })
    return slipway
  }

  /** Changes values of the release; those that are not named stay as they are. */
  async change(...values: readonly string[]): Promise<void> {
    const settings = values.flatMap((value) => ['--set', value])
    await runHelm([...release('upgrade', this.cluster), '--reset-then-reuse-values', ...settings])
  }

  /** Looks until it holds. The API may be away meanwhile: with one control plane that is part of an upgrade. */
  async until(what: string, withinMs: number, holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + withinMs
    let last: unknown
    for (;;) {
      try {
        if (await holds()) return
        last = undefined
      } catch (error) {
        last = error
      }
      if (performance.now() > deadline) {
        throw new Error(`not within ${withinMs / 1000} s: ${what}\n${await this.story()}`, { cause: last })
      }
      await wait(lookEveryMs)
    }
  }

  async states(): Promise<readonly NodeState[]> {
    return (await this.api.list(nodeStates, {}, AbortSignal.timeout(10_000))).items
  }

  async state(node: string): Promise<NodeState> {
    return await this.api.get(nodeStates, { name: node }, AbortSignal.timeout(10_000))
  }

  async get<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T> {
    return await this.api.get(type, { name }, AbortSignal.timeout(10_000))
  }

  async create<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    spec: T extends { spec: infer S } ? S : never,
  ): Promise<void> {
    const { apiVersion, kind } = type
    await this.cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion, kind, metadata: { name }, spec }))
  }

  /** Creates the update and follows it to its end. */
  async update(name: string, spec: DirectUpdateSpec, withinMs: number): Promise<DirectUpdate> {
    await this.create(directUpdates, name, spec)
    return await this.ended(name, withinMs)
  }

  async ended(name: string, withinMs: number): Promise<DirectUpdate> {
    let update: DirectUpdate | undefined
    await this.until(`update ${name} ends`, withinMs, async () => {
      update = await this.get(directUpdates, name)
      const phase = update.status?.phase
      return phase === 'Succeeded' || phase === 'Failed' || phase === 'RequiresAttention'
    })
    if (!update) throw new Error(`update ${name} is not there`)
    return update
  }

  /** What a person would look at when something does not go on. */
  async story(): Promise<string> {
    const parts = await Promise.all(
      [
        ['get', 'nodes', '-o', 'wide'],
        ['get', 'pods', '-A', '-o', 'wide'],
        ['get', 'directupdates.slipway.dev', '-o', 'yaml'],
        ['get', 'nodestates.slipway.dev', '-o', 'yaml'],
        ['logs', '-n', namespace, '-l', 'app.kubernetes.io/component=operator', '--tail=60'],
      ].map((args) => this.cluster.kubectl(args).catch((error: unknown) => String(error))),
    )
    return parts.join('\n')
  }
}
