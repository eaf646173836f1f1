import type { KubeObject, ResourceType } from '../api/kube.ts'

export interface ObjectRef {
  readonly name: string
  /** Required for namespaced types, absent for cluster-scoped ones. */
  readonly namespace?: string
}

export interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  /** `metadata.name=x`, `spec.nodeName=y`: equality terms joined by commas. */
  readonly fieldSelector?: string
}

export interface ListPage<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  /** Present when there is more: pass it on to get the next page. */
  readonly continueToken?: string
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing changed up to this version. `initialEventsEnd` closes the initial state of a streaming list. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

export interface WatchOptions extends Selection {
  /** Start after this version; absent together with `initialEvents` = first the present state as ADDED events. */
  readonly resourceVersion?: string
  readonly initialEvents?: boolean
  /** The server ends the stream after about this long. */
  readonly timeoutSeconds?: number
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** `merge` may carry metadata.resourceVersion (and uid) as a precondition; `json` carries `test` operations. */
export type Patch =
  | { readonly type: 'merge'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }

export type SubResource = 'status'

export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly gracePeriodSeconds?: number
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
}

export interface EvictOptions {
  readonly gracePeriodSeconds?: number
  /** Refused (Conflict) when the pod of that name is another one by now. */
  readonly uid?: string
}

/**
 * The Kubernetes API as we use it. Implementations: kube/http (real) and sim (in memory); one contract suite runs on both.
 *
 * Every failure is a KubeError (api/kube-error.ts), named by what the caller can do about it:
 * NotFound, AlreadyExists, Conflict (resourceVersion, uid or a JSON-patch `test` did not match: decide again),
 * Invalid, Forbidden, Unauthorized, TooManyRequests (with retryAfterMs; an eviction held back by a budget says so),
 * Expired (410: list again), ServerError, Unreachable (nobody answered), Timeout.
 * After ServerError, Unreachable and Timeout a write may or may not have taken effect: look before writing again.
 * Implementations retry only what is safe to repeat. Objects handed out are shared: never change them.
 */
export interface KubeApi {
  get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, signal: AbortSignal): Promise<T>
  /** One page of at most `limit` objects. */
  list<T extends KubeObject>(
    type: ResourceType<T>,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>>
  /**
   * Calls `onEvent` in order for each change. Resolves when the server ends the stream in good order; rejects with
   * Expired when the version is too old, with Unreachable when the connection broke or stayed silent for too long.
   */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void>
  create<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T>
  /** Replaces if metadata.resourceVersion still matches. */
  replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T>
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T>
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void>
  /** The eviction sub-resource of a pod: accepted, or TooManyRequests while a PodDisruptionBudget holds it. */
  evict(pod: ObjectRef, options: EvictOptions, signal: AbortSignal): Promise<void>
  /** The version of the API server that answers. */
  serverVersion(signal: AbortSignal): Promise<string>
  /** A page of plain text such as `/metrics` or `/readyz?verbose`, line by line: it may be larger than one wants to hold. */
  readLines(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void>
}

/** An object before the server filled in uid, resourceVersion and the like. */
export type Unsaved<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & {
  readonly metadata: Partial<T['metadata']> & { readonly generateName?: string }
  readonly status?: T extends { readonly status?: infer S } ? S : never
}
