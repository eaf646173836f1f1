import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { pods } from '../../api/kube.ts'
import type {
  DeleteOptions,
  EvictOptions,
  KubeApi,
  ListPage,
  ObjectRef,
  Patch,
  Selection,
  SubResource,
  Unsaved,
  WatchEvent,
  WatchOptions,
} from '../../ports/kube-api.ts'
import { patchRefusal, watchRefusal } from './failure.ts'
import { HttpClient, type HttpClientOptions } from './http-client.ts'
import { queryText, resourcePath } from './resource-path.ts'

/** Unknown and repeated fields are refused instead of dropped: a misspelt field must not be lost silently. */
const strict = queryText({ fieldValidation: 'Strict' })

interface RawList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly T[] | null
}

interface RawEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

/** The KubeApi port over HTTP. What the API server answers is trusted to have the shape it published. */
export class HttpKubeApi implements KubeApi {
  readonly #client: HttpClient

  constructor(options: HttpClientOptions) {
    this.#client = new HttpClient(options)
  }

  /** Ends all requests and connections. */
  close(): Promise<void> {
    return this.#client.close()
  }

  async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, signal: AbortSignal): Promise<T> {
    const path = resourcePath(type, ref)
    return (await this.#client.request({ verb: 'get', plural: type.plural, method: 'GET', path }, signal)) as T
  }

  async list<T extends KubeObject>(
    type: ResourceType<T>,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    const { namespace, limit, continueToken, labelSelector, fieldSelector } = options
    const query = queryText({ limit, continue: continueToken, labelSelector, fieldSelector })
    const path = resourcePath(type, { namespace }) + query
    const answer = await this.#client.request({ verb: 'list', plural: type.plural, method: 'GET', path }, signal)
    const { metadata, items } = answer as RawList<T>
    const more = metadata.continue === undefined || metadata.continue === '' ? {} : { continueToken: metadata.continue }
    return { items: items ?? [], resourceVersion: metadata.resourceVersion, ...more }
  }

  async watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, initialEvents } = options
    const query = queryText({
      watch: true,
      allowWatchBookmarks: true,
      labelSelector,
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
      ...(initialEvents === true ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    })
    const path = resourcePath(type, { namespace }) + query
    const receive = (line: string) => onEvent(watchEvent(JSON.parse(line) as RawEvent<T>))
    await this.#client.stream({ verb: 'watch', plural: type.plural, method: 'GET', path }, receive, signal)
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    const path = resourcePath(type, { namespace: object.metadata.namespace }) + strict
    const body = bodyOf(type, object)
    return (await this.#client.request(
      { verb: 'create', plural: type.plural, method: 'POST', path, body },
      signal,
    )) as T
  }

  async replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T> {
    const { namespace, name } = object.metadata
    const path = resourcePath(type, { namespace, name, subResource }) + strict
    const body = bodyOf(type, object)
    return (await this.#client.request(
      { verb: 'replace', plural: type.plural, method: 'PUT', path, body },
      signal,
    )) as T
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T> {
    const path = resourcePath(type, { ...ref, subResource }) + strict
    const contentType = `application/${patch.type}-patch+json`
    const body = JSON.stringify(patch.type === 'merge' ? patch.body : patch.operations)
    const call = { verb: 'patch', plural: type.plural, method: 'PATCH', path, body, contentType } as const
    const answer = await this.#client.request(call, signal).catch((error: unknown) => {
      throw patchRefusal(error, patch)
    })
    return answer as T
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const path = resourcePath(type, ref)
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', ...deleteOptions(options) })
    await this.#client.request({ verb: 'delete', plural: type.plural, method: 'DELETE', path, body }, signal)
  }

  async evict(pod: ObjectRef, options: EvictOptions, signal: AbortSignal): Promise<void> {
    const path = resourcePath(pods, { ...pod, subResource: 'eviction' }) + strict
    const body = JSON.stringify({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.name, namespace: pod.namespace },
      deleteOptions: deleteOptions(options),
    })
    await this.#client.request({ verb: 'evict', plural: 'pods', method: 'POST', path, body }, signal)
  }

  async serverVersion(signal: AbortSignal): Promise<string> {
    const call = { verb: 'version', plural: '', method: 'GET', path: '/version' } as const
    const answer = (await this.#client.request(call, signal)) as { readonly gitVersion: string }
    return answer.gitVersion
  }

  async readLines(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    await this.#client.stream({ verb: 'read', plural: '', method: 'GET', path }, onLine, signal)
  }
}

/** Objects from a list carry no apiVersion and kind; a write must. */
function bodyOf(type: ResourceType, object: object): string {
  return JSON.stringify({ ...object, apiVersion: type.apiVersion, kind: type.kind })
}

function deleteOptions(options: DeleteOptions): object {
  const { uid, resourceVersion, gracePeriodSeconds, propagation } = options
  const preconditions = { uid, resourceVersion }
  return {
    ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions }),
    gracePeriodSeconds,
    propagationPolicy: propagation,
  }
}

function watchEvent<T extends KubeObject>(raw: RawEvent<T>): WatchEvent<T> {
  const { type, object } = raw
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object }
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = object.metadata
      return { type, resourceVersion, initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true' }
    }
    case 'ERROR':
      throw watchRefusal(object)
  }
}
