// What stands beside the update of some fault runs: a resource of another system, an update at a given time, an OS image. Each is
// carried out once and comes to its own end, whatever happens to the others.

import { createHash } from 'node:crypto'
import { cupcakeDirectUpdates } from '../../api/cupcake.ts'
import { type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { housekeeperLabels, housekeeperResult, housekeeperUpdates } from '../../api/housekeeper.ts'
import { nodes } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { scheduledUpdates } from '../../api/schedule.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { FoundImage, Registry } from '../../ports/registry.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { foreignDefinitions } from '../crd/foreign-definitions.ts'
import { bringsImage, type FaultBeside } from './fault-extras.ts'

/** Of theirs, and the beginning of what is made for it. */
const name = 'beside'
const repository = 'registry.example/os'
const image = `${repository}:stable`

export interface BesideOptions {
  readonly cluster: SimCluster
  readonly api: KubeApi
  readonly beside: FaultBeside | undefined
  readonly namespace: string
  /** The version that the update next to it goes to, too. */
  readonly target: string
  readonly script: NonNullable<DirectUpdateSpec['script']>
  readonly signal: AbortSignal
}

export class Beside {
  readonly #options: BesideOptions
  readonly #api: KubeApi
  readonly #made = new Set<string>()
  readonly #digests = new Set<string>()
  #isEdited = false

  constructor(options: BesideOptions) {
    this.#options = options
    this.#api = options.api
    if (options.beside) options.cluster.server.onCommit(({ kind }) => this.#note(kind))
  }

  async install(): Promise<void> {
    const { beside, signal } = this.#options
    if (beside?.kind !== 'Cupcake' && beside?.kind !== 'Housekeeper') return
    for (const definition of foreignDefinitions()) await this.#api.create(resourceDefinitionType, definition, signal)
  }

  async ask(): Promise<void> {
    const { cluster, beside, namespace, target, script, signal } = this.#options
    const patient = { preflight: { skip: ['ClockSkew' as const] }, strategy: { maxUnavailable: 1 } }
    switch (beside?.kind) {
      case undefined:
        return
      case 'Cupcake': {
        const spec = { targetVersion: target.slice(1), preflightChecks: false, operationTimeout: '5h' }
        await this.#api.create(
          cupcakeDirectUpdates,
          { ...typeOf(cupcakeDirectUpdates), metadata: { name }, spec },
          signal,
        )
        return
      }
      case 'Housekeeper': {
        const spec = { kubeVersion: target, ...(beside.image && { osImageURL: image }) }
        const metadata = { name, namespace }
        await this.#api.create(housekeeperUpdates, { ...typeOf(housekeeperUpdates), metadata, spec }, signal)
        return
      }
      case 'Scheduled': {
        const at = new Date(cluster.clock.nowMs() + beside.afterMs).toISOString()
        const spec = { at, startBy: '6h', template: { spec: { ...patient, script } } }
        await this.#api.create(scheduledUpdates, { ...typeOf(scheduledUpdates), metadata: { name }, spec }, signal)
        return
      }
      case 'Image': {
        const spec = { ...patient, os: { image } }
        await this.#api.create(directUpdates, { ...typeOf(directUpdates), metadata: { name }, spec }, signal)
      }
    }
  }

  /** What a person does for it meanwhile. */
  async goOn(): Promise<void> {
    const { cluster, beside, namespace, signal } = this.#options
    const ours = cluster.server.peekAll(directUpdates).find(({ metadata }) => metadata.name.startsWith(name))
    if (!beside || !ours) return
    // A clock that a fault set wrong stays so; its manifest has no word for that.
    if (beside.kind === 'Housekeeper' && !ours.spec.preflight) {
      const body = { spec: { preflight: { skip: ['ClockSkew'] } } }
      await this.#api.patch(directUpdates, { name: ours.metadata.name }, { type: 'merge', body }, signal)
    }
    if (!beside.edited || this.#isEdited || (ours.status?.summary?.done ?? 0) === 0) return
    this.#isEdited = true
    if (beside.kind === 'Cupcake') {
      const patch = { type: 'merge', body: { spec: { concurrency: 2 } } } as const
      await this.#api.patch(cupcakeDirectUpdates, { name }, patch, signal)
    }
    if (beside.kind === 'Housekeeper') {
      const patch = { type: 'merge', body: { spec: { maxUnavailable: 2 } } } as const
      await this.#api.patch(housekeeperUpdates, { name, namespace }, patch, signal)
    }
  }

  isDone(): boolean {
    const { cluster, beside, namespace } = this.#options
    const { server } = cluster
    switch (beside?.kind) {
      case undefined:
        return true
      case 'Cupcake':
        return server.peek(cupcakeDirectUpdates, { name })?.status?.phase === 'Succeeded'
      case 'Housekeeper': {
        const { annotations } = server.peek(housekeeperUpdates, { name, namespace })?.metadata ?? {}
        return annotations?.[housekeeperResult.phase] === 'Succeeded' && !this.#isLabelled()
      }
      case 'Scheduled':
        return server.peek(scheduledUpdates, { name })?.status?.phase === 'Completed'
      case 'Image':
        return server.peek(directUpdates, { name })?.status?.phase === 'Succeeded'
    }
  }

  /** How it must have gone, where it is done. */
  judge(): readonly string[] {
    const { cluster, beside, target } = this.#options
    if (!beside) return []
    const found: string[] = []
    if (this.#made.size !== 1) found.push(`${this.#made.size} updates were made for one ${beside.kind}`)
    if (this.#digests.size > 1) found.push(`its tag was taken for ${this.#digests.size} images`)
    for (const { metadata, status } of cluster.server.peekAll(nodes)) {
      const { host } = cluster.machine(metadata.name)
      const ran = host.executions.filter(({ order, exitCode }) => order.startsWith(name) && exitCode === 0)
      const version = status?.nodeInfo?.kubeletVersion
      if ((beside.kind === 'Cupcake' || beside.kind === 'Housekeeper') && version !== target)
        found.push(`it succeeded, and ${metadata.name} is at ${version}`)
      if (beside.kind === 'Scheduled' && !ran.some(({ step }) => step === 'script'))
        found.push(`it succeeded, and its script never ended well on ${metadata.name}`)
      if (bringsImage(beside) && !ran.some(({ step, argv }) => step === 'boot-image' && this.#isFound(argv[2])))
        found.push(`it succeeded, and ${metadata.name} never booted the image that was found`)
    }
    return found
  }

  #isFound(reference: string | undefined): boolean {
    return [...this.#digests].some((digest) => reference === `${repository}@${digest}`)
  }

  #note(kind: string): void {
    if (kind !== directUpdates.kind) return
    for (const { metadata, status } of this.#options.cluster.server.peekAll(directUpdates)) {
      if (!metadata.name.startsWith(name)) continue
      this.#made.add(metadata.uid)
      if (status?.osImage) this.#digests.add(status.osImage.digest)
    }
  }

  #isLabelled(): boolean {
    const labels = Object.values(housekeeperLabels)
    const all = this.#options.cluster.server.peekAll(nodes)
    return all.some(({ metadata }) => labels.some((label) => metadata.labels?.[label] !== undefined))
  }
}

/** Away for a while where that is drawn; its tag names another image after every look. */
export function faultRegistry(beside: FaultBeside | undefined, nowMs: () => number): Registry {
  let looks = 0
  const answer = () => {
    const { fromMs = 0, untilMs = 0 } = beside?.registryDown ?? {}
    if (nowMs() >= fromMs && nowMs() < untilMs) throw new SlipwayError('CannotReach', `${repository} answers 503`)
  }
  return {
    tags: async () => {
      answer()
      return ['stable']
    },
    look: async (): Promise<FoundImage> => {
      answer()
      const digest = `sha256:${createHash('sha256').update(String(looks++)).digest('hex')}`
      return { digest, platforms: [{ os: 'linux', architecture: 'amd64', digest }] }
    },
    referrers: async () => {
      answer()
      return []
    },
  }
}

function typeOf<T extends { readonly apiVersion: string; readonly kind: string }>({ apiVersion, kind }: T) {
  return { apiVersion, kind }
}
