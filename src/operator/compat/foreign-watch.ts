// A kind of another system that may or may not be installed here. Its definition is watched; its objects only while that is
// there, so that a cluster without it pays for one quiet watch, and installing it later needs no restart.

import { definitionName } from '../../api/foreign-kinds.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { type ResourceDefinition, resourceDefinitionType } from '../../api/kube-definition.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { type Key, Store } from '../../kube/store.ts'
import type { OperatorPorts } from '../ports.ts'

export interface ForeignWatchOptions<T extends KubeObject> {
  readonly ports: OperatorPorts
  readonly type: ResourceType<T>
  /** Cuts an object down on arrival, where more comes than is read. */
  readonly transform?: (object: T) => T
  /** For each object that came, changed or went. */
  readonly onChange: (key: Key) => void
  /** The kind is installed, until this is aborted. */
  readonly onServed?: (signal: AbortSignal) => void
}

export class ForeignWatch<T extends KubeObject> {
  readonly store = new Store<T>()
  readonly #options: ForeignWatchOptions<T>
  readonly #definitions = new Store<ResourceDefinition>()
  #objects: { readonly reflector: Reflector<T>; readonly life: LinkedAbort } | undefined

  constructor(options: ForeignWatchOptions<T>) {
    this.#options = options
    this.store.subscribe(({ key }) => options.onChange(key))
  }

  /** Whether what `store` holds is what there is; false where the kind is not installed. */
  get isSynced(): boolean {
    return this.#objects?.reflector.isSynced ?? false
  }

  /** Until aborted. Does nothing but wait where the kind is not installed. */
  async run(signal: AbortSignal): Promise<void> {
    const { ports, type } = this.#options
    const reflector = new Reflector<ResourceDefinition>({
      ...ports,
      type: resourceDefinitionType,
      store: this.#definitions,
      selection: { fieldSelector: `metadata.name=${definitionName(type)}` },
      transform: slim,
    })
    const unsubscribe = this.#definitions.subscribe(() => this.#follow(signal))
    try {
      await reflector.run(signal)
    } finally {
      unsubscribe()
      this.#objects?.life.abort('nobody watches any more')
    }
  }

  /** A definition that is being deleted still serves its objects: they go first, with their finalizers. */
  #follow(signal: AbortSignal): void {
    const [definition] = this.#definitions.values()
    const [, version] = this.#options.type.apiVersion.split('/')
    const isServed = definition?.spec.versions?.some(({ name, served }) => served && name === version) ?? false
    if (isServed === (this.#objects !== undefined)) return
    const { ports, type, transform } = this.#options
    if (isServed) {
      ports.log.info('a kind of another system is installed', { resource: type.plural, apiVersion: type.apiVersion })
      const life = new LinkedAbort(signal)
      const reflector = new Reflector<T>({ ...ports, type, store: this.store, ...(transform && { transform }) })
      this.#objects = { reflector, life }
      void reflector.run(life.signal)
      this.#options.onServed?.(life.signal)
      return
    }
    ports.log.info('a kind of another system is gone', { resource: type.plural, apiVersion: type.apiVersion })
    this.#objects?.life.abort('its definition is gone')
    this.#objects = undefined
    this.store.replaceAll([])
  }
}

/** Schemas are long, and of no use here. */
function slim({ metadata, spec }: ResourceDefinition): ResourceDefinition {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata
  return {
    metadata: {
      ...{ name, uid, resourceVersion, creationTimestamp },
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: { versions: (spec.versions ?? []).map(({ name, served }) => ({ name, served })) },
  }
}
