import type { ConfigMap, KubeObject, ResourceType } from '../../src/api/kube.ts'
import { KubeError, type KubeErrorCode } from '../../src/api/kube-error.ts'
import type { AgentStatus, NodeState, Order } from '../../src/api/node-state.ts'
import type { KubeApi, ObjectRef, Patch, WatchEvent, WatchOptions } from '../../src/ports/kube-api.ts'

type Listener = (event: WatchEvent<NodeState>) => void

/** One NodeState and some ConfigMaps behind the KubeApi port: no more than one agent sees of a cluster. */
export class FakeApi implements KubeApi {
  node: NodeState | undefined
  readonly scripts = new Map<string, string>()
  readonly requests: string[] = []
  readonly patches: unknown[] = []
  /** Set to make every request fail. */
  away: KubeErrorCode | undefined
  /** Set to make every patch fail without effect. */
  refusing: KubeErrorCode | undefined
  /** Set to drop this field of the agent's status on every patch, as a server with older CRDs prunes it. */
  pruned: keyof AgentStatus | undefined
  /** Fails the next patch after it took effect, and the watch does not show it either. */
  loseNextAnswer = false
  #version = 1
  readonly #breakers = new Set<(error: KubeError) => void>()
  readonly #listeners = new Set<Listener>()

  place(order: Order | undefined, nodeUID = 'node-uid', uid = 'state-uid'): void {
    const metadata = {
      name: 'w1',
      uid,
      resourceVersion: this.#nextVersion(),
      creationTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'w1', uid: nodeUID }],
    }
    const status = this.node?.metadata.uid === uid ? this.node.status : undefined
    const type = this.node ? 'MODIFIED' : 'ADDED'
    this.node = { metadata, spec: order ? { order } : {}, ...(status && { status }) }
    this.#tell({ type, object: this.node })
  }

  removeNode(): void {
    if (!this.node) return
    const object = { ...this.node, metadata: { ...this.node.metadata, resourceVersion: this.#nextVersion() } }
    this.node = undefined
    this.#tell({ type: 'DELETED', object })
  }

  goAway(code: KubeErrorCode): void {
    this.away = code
    for (const breakWatch of [...this.#breakers]) breakWatch(new KubeError(code, 'the pretend API is away'))
  }

  get agent(): AgentStatus | undefined {
    return this.node?.status?.agent
  }

  async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): Promise<T> {
    this.#ask(`get ${type.plural}`)
    const script = this.scripts.get(ref.name)
    const found: KubeObject | undefined =
      type.plural === 'nodestates' ? this.node : script === undefined ? undefined : configMap(ref.name, script)
    if (!found) throw new KubeError('NotFound', `${ref.name} is not there`, { status: 404 })
    return found as T
  }

  async watch<T extends KubeObject>(
    _type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#ask('watch')
    const tell: Listener = (event) => onEvent(event as WatchEvent<T>)
    if (options.initialEvents) {
      if (this.node) tell({ type: 'ADDED', object: this.node })
      tell({ type: 'BOOKMARK', resourceVersion: String(this.#version), initialEventsEnd: true })
    } else if (this.node && Number(this.node.metadata.resourceVersion) > Number(options.resourceVersion)) {
      tell({ type: 'MODIFIED', object: this.node })
    }
    this.#listeners.add(tell)
    await new Promise<void>((_, reject) => {
      const stop = (reason: unknown) => {
        this.#listeners.delete(tell)
        this.#breakers.delete(stop)
        reject(reason)
      }
      this.#breakers.add(stop)
      signal.addEventListener('abort', () => stop(signal.reason), { once: true })
    })
  }

  async patch<T extends KubeObject>(_type: ResourceType<T>, _ref: ObjectRef, patch: Patch): Promise<T> {
    this.#ask('patch')
    if (this.refusing) throw new KubeError(this.refusing, 'the pretend API refuses this')
    if (!this.node) throw new KubeError('NotFound', 'gone', { status: 404 })
    if (patch.type !== 'merge') throw new KubeError('Invalid', 'merge patches only')
    const { metadata, ...rest } = patch.body
    if ((metadata as { uid?: string }).uid !== this.node.metadata.uid) throw new KubeError('Conflict', 'another uid')
    this.patches.push(rest)
    const kept = this.pruned ? apply(rest, { status: { agent: { [this.pruned]: null } } }) : rest
    const next = apply(this.node, kept) as NodeState
    this.node = { ...next, metadata: { ...this.node.metadata, resourceVersion: this.#nextVersion() } }
    if (this.loseNextAnswer) {
      this.loseNextAnswer = false
      throw new KubeError('Timeout', 'no answer came')
    }
    this.#tell({ type: 'MODIFIED', object: this.node })
    return this.node as KubeObject as T
  }

  async list(): Promise<never> {
    throw new KubeError('Invalid', 'the fake serves streaming lists')
  }
  async create(): Promise<never> {
    throw new KubeError('Forbidden', 'agents create nothing')
  }
  async replace(): Promise<never> {
    throw new KubeError('Forbidden', 'agents replace nothing')
  }
  async delete(): Promise<never> {
    throw new KubeError('Forbidden', 'agents delete nothing')
  }
  async evict(): Promise<never> {
    throw new KubeError('Forbidden', 'agents evict nothing')
  }
  async serverVersion(): Promise<string> {
    return 'v1.36.3'
  }

  #ask(what: string): void {
    this.requests.push(what)
    if (this.away) throw new KubeError(this.away, 'the pretend API is away')
  }

  #tell(event: WatchEvent<NodeState>): void {
    for (const listener of this.#listeners) queueMicrotask(() => listener(event))
  }

  #nextVersion(): string {
    this.#version += 1
    return String(this.#version)
  }
}

function apply(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(typeof before === 'object' && before !== null ? before : {}) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = apply(result[key], value)
  }
  return result
}

function configMap(name: string, script: string): ConfigMap {
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    data: { script },
  }
}
