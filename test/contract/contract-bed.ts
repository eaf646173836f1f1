// What every case of the contract needs: a namespace of its own, pods that nobody else touches, and waiting by watch.

import type { KubeObject, Pod, ResourceType } from '../../src/api/kube.ts'
import { namespaces, pods } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import type { KubeApi, ObjectRef, WatchEvent } from '../../src/ports/kube-api.ts'

export interface ContractApi {
  readonly api: KubeApi
  /** Makes the server forget its history, where it does not by itself: version 1 is then too old to watch from. */
  forgetHistory(): Promise<void>
  close(): Promise<void>
}

const serviceAccounts: ResourceType = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}

/** Nodes of this name exist nowhere, so that no kubelet interferes. */
export const nowhere = 'contract-nowhere'

export const never: AbortSignal = new AbortController().signal

/** One test's own corner of the cluster. */
export class ContractBed {
  readonly api: KubeApi
  readonly namespace: string

  constructor(api: KubeApi, namespace: string) {
    this.api = api
    this.namespace = namespace
  }

  static async open(api: KubeApi): Promise<ContractBed> {
    const made = await api.create(namespaces, { metadata: { generateName: 'contract-' } }, never)
    const bed = new ContractBed(api, made.metadata.name)
    await bed.eventually(serviceAccounts, bed.ref('default'), (account) => account !== undefined)
    return bed
  }

  async close(): Promise<void> {
    await this.api.delete(namespaces, { name: this.namespace }, {}, never)
  }

  ref(name: string): ObjectRef {
    return { name, namespace: this.namespace }
  }

  /** A pod that is Running and Ready on a node that is not there, or less of it. */
  async pod(
    name: string,
    options: {
      readonly labels?: Record<string, string>
      readonly phase?: 'Running' | 'Pending' | 'Succeeded'
      readonly ready?: boolean
    } = {},
  ): Promise<Pod> {
    const { labels = {}, phase = 'Running', ready = true } = options
    const spec = { nodeName: nowhere, terminationGracePeriodSeconds: 20, containers: [{ name: 'main', image: 'none' }] }
    const made = await this.api.create(pods, { metadata: { ...this.ref(name), labels }, spec }, never)
    if (phase === 'Pending') return made
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }]
    const body = { status: { phase, conditions } }
    return this.api.patch(pods, this.ref(name), { type: 'merge', body }, never, 'status')
  }

  async find<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): Promise<T | undefined> {
    try {
      return await this.api.get(type, ref, never)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** Waits by watch until the object (undefined: gone) is as expected; the test's own time-out is the limit. */
  async eventually<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    expected: (object: T | undefined) => boolean,
  ): Promise<T | undefined> {
    const selection = {
      fieldSelector: `metadata.name=${ref.name}`,
      ...(ref.namespace ? { namespace: ref.namespace } : {}),
    }
    for (;;) {
      const page = await this.api.list(type, selection, never)
      let current = page.items[0]
      if (expected(current)) return current
      const stop = new AbortController()
      const see = (event: WatchEvent<T>): void => {
        if (event.type === 'BOOKMARK' || stop.signal.aborted) return
        current = event.type === 'DELETED' ? undefined : event.object
        if (expected(current)) stop.abort()
      }
      await this.api
        .watch(type, { ...selection, resourceVersion: page.resourceVersion }, see, stop.signal)
        .catch((error: unknown) => {
          if (!stop.signal.aborted && !isKubeError(error, 'Unreachable', 'Expired')) throw error
        })
      if (stop.signal.aborted) return current
    }
  }

  /** Runs `act` while watching, until as many events have come as expected; bookmarks do not count. */
  async events<T extends KubeObject>(
    type: ResourceType<T>,
    options: { readonly labelSelector?: string; readonly fieldSelector?: string },
    count: number,
    act: () => Promise<unknown>,
  ): Promise<readonly { readonly type: string; readonly object: T }[]> {
    const selection = { namespace: this.namespace, ...options }
    const page = await this.api.list(type, selection, never)
    const seen: { readonly type: string; readonly object: T }[] = []
    const stop = new AbortController()
    const watching = this.api.watch(
      type,
      { ...selection, resourceVersion: page.resourceVersion },
      (event) => {
        if (event.type === 'BOOKMARK') return
        seen.push(event)
        if (seen.length >= count) stop.abort()
      },
      stop.signal,
    )
    const over = watching.catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    })
    await act()
    await over
    return seen
  }
}
