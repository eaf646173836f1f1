// What can go wrong between a process and the API server, as data. Who decides is in faults.ts; who suffers in sim-client.ts.

import type { ResourceType } from '../api/kube.ts'
import type { KubeError } from '../api/kube-error.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'evict' | 'version' | 'read'

export interface RequestInfo {
  /** The process that asks. */
  readonly client: string
  readonly verb: Verb
  readonly type: ResourceType
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly write: boolean
}

export type RequestFault =
  /** The process dies, before the server acted or after it did. */
  | { readonly outcome: 'crash'; readonly effect: 'none' | 'done' }
  /** The caller gets this error, whether or not the server acted. */
  | { readonly outcome: 'fail'; readonly effect: 'none' | 'done'; readonly error: KubeError }

export type WatchFault =
  | { readonly outcome: 'break' }
  | { readonly outcome: 'delay'; readonly ms: number }
  | { readonly outcome: 'duplicate' }
  /** Nothing comes any more, and nothing says so. */
  | { readonly outcome: 'stall' }
  /** Bookmarks keep the stream alive while events are late. */
  | { readonly outcome: 'bookmarks-only'; readonly ms: number }

export interface FaultSource {
  onRequest(info: RequestInfo): RequestFault | undefined
  onWatchEvent(info: RequestInfo): WatchFault | undefined
  /** An event reaches the process: whether it dies of it. */
  onArrival?(info: RequestInfo): boolean
}
