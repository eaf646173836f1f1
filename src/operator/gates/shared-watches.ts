// Watches that several gates and hooks share, each open only while somebody looks, and a while longer: the next node is
// seldom far.

import type { KubeObject, LabelSelector, ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { gateRoleLabel, type Shortfall } from '../../core/gates/gate.ts'
import { selectorText } from '../../core/label-selector.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { type Key, Store } from '../../kube/store.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import type { OperatorPorts } from '../ports.ts'

const lingerMs = 60_000
/** Even where nothing changes the server is heard of once a minute. */
const silenceMs = 150_000

export interface Watched<T extends KubeObject> {
  objects(): readonly T[]
  get(key: Key): T | undefined
  /** What the server answered to a write of ours, before the watch tells of it. */
  learn(object: T): void
  /** Why what is there cannot be told now; undefined when it can. */
  obstacle(): Shortfall | undefined
  release(): void
}

export interface WatchSelection {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly selector?: LabelSelector | undefined
  readonly nodeName?: string | undefined
}

interface Shared {
  readonly store: Store<KubeObject>
  readonly reflector: Reflector<KubeObject>
  readonly life: LinkedAbort
  users: number
  stopTimer: CancelTimer | undefined
}

export class SharedWatches {
  readonly #ports: OperatorPorts
  readonly #signal: AbortSignal
  readonly #open = new Map<string, Shared>()
  /** By the function itself, since a bundler may give two of them one name. */
  readonly #transforms = new Map<unknown, number>()

  constructor(ports: OperatorPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
    signal.addEventListener('abort', () => this.#stopTimers(), { once: true })
  }

  /** Who asks for the same, kept by the same `transform`, shares one watch: let that be a function that lasts. */
  use<T extends KubeObject>(
    type: ResourceType<T>,
    selection: WatchSelection,
    onChange: () => void,
    transform: (object: T) => T = unmanaged,
  ): Watched<T> {
    const key = JSON.stringify([type.apiVersion, type.plural, selection, this.#numberOf(transform)])
    const shared = this.#open.get(key) ?? this.#start(key, type, selection, (object) => transform(object as T))
    shared.users++
    shared.stopTimer?.()
    shared.stopTimer = undefined
    const unsubscribe = shared.store.subscribe(onChange)
    const { reflector, life } = shared
    let held = true
    // The first state may be empty: then no change tells of it.
    const settled = () => {
      if (held && !life.signal.aborted) onChange()
    }
    if (!reflector.isSynced) void reflector.synced(life.signal).then(settled, settled)
    return {
      objects: () => [...shared.store.values()] as T[],
      get: (key) => shared.store.get(key) as T | undefined,
      learn: (object) => shared.store.learn(object),
      obstacle: () => obstacleOf(type, reflector),
      release: () => {
        if (!held) return
        held = false
        unsubscribe()
        this.#leave(key, shared)
      },
    }
  }

  #numberOf(transform: unknown): number {
    const known = this.#transforms.get(transform) ?? this.#transforms.size
    this.#transforms.set(transform, known)
    return known
  }

  #leave(key: string, shared: Shared): void {
    shared.users--
    if (shared.users > 0 || this.#signal.aborted) return
    shared.stopTimer = this.#ports.clock.after(lingerMs, () => {
      shared.life.abort('nobody looks any more')
      this.#open.delete(key)
    })
  }

  #start(
    key: string,
    type: ResourceType,
    { namespace, name, selector, nodeName }: WatchSelection,
    transform: (object: KubeObject) => KubeObject,
  ): Shared {
    const store = new Store<KubeObject>()
    const fields = [
      ...(name === undefined ? [] : [`metadata.name=${name}`]),
      ...(nodeName === undefined ? [] : [`spec.nodeName=${nodeName}`]),
    ].join(',')
    const labels = selectorText(selector)
    const selection = {
      ...(namespace !== undefined && { namespace }),
      ...(fields !== '' && { fieldSelector: fields }),
      ...(labels !== '' && { labelSelector: labels }),
    }
    const reflector = new Reflector<KubeObject>({ ...this.#ports, type, store, selection, transform })
    const life = new LinkedAbort(this.#signal)
    void reflector.run(life.signal)
    const shared: Shared = { store, reflector, life, users: 0, stopTimer: undefined }
    this.#open.set(key, shared)
    return shared
  }

  #stopTimers(): void {
    for (const { stopTimer } of this.#open.values()) stopTimer?.()
  }
}

function obstacleOf(type: ResourceType, reflector: Reflector<KubeObject>): Shortfall | undefined {
  const { plural } = type
  const { failure } = reflector
  if (!reflector.isSynced) {
    if (failure === undefined) return { state: 'unseen', message: `${plural} are not known yet` }
    return { state: 'unknown', message: whyUnread(type, failure) }
  }
  const silentMs = reflector.silentMs()
  if (silentMs <= silenceMs) return undefined
  return { state: 'unknown', message: `nothing was heard of ${plural} for ${Math.round(silentMs / 1000)} s` }
}

function whyUnread({ plural, apiVersion }: ResourceType, failure: unknown): string {
  if (isKubeError(failure, 'Forbidden')) {
    return `the operator may not read ${plural} (${apiVersion}): give it a ClusterRole with get, list and watch and the label ${gateRoleLabel}: "true"`
  }
  if (isKubeError(failure, 'NotFound')) return `the API server does not know ${plural} of ${apiVersion}`
  return `${plural} cannot be read: ${failure instanceof Error ? failure.message : String(failure)}`
}

/** An expression may read anything but who wrote which field, which is often half of an object. */
function unmanaged<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown }
  return { ...object, metadata }
}
