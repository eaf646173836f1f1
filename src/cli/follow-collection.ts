// Keeps one collection in step with the API for as long as somebody looks: list, then watch, again after any trouble.

import type { KubeObject, ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi, Selection } from '../ports/kube-api.ts'
import { listAll } from './read-cluster.ts'

const retryMs = { first: 250, most: 5000 } as const
/** An API server that is being upgraded is away for a while; longer than this and the one who looks should know. */
const patienceMs = 300_000
/** One that has just started knows nobody's rights for some seconds, and refuses who may. */
const refusedPatienceMs = 60_000

export interface Following<T extends KubeObject> {
  readonly api: KubeApi
  readonly clock: Clock
  readonly type: ResourceType<T>
  readonly selection: Selection
  /** Called after each change; the map is the same one every time, by object name. */
  readonly onChange: (objects: ReadonlyMap<string, T>) => void
  /** The connection was lost, or is back (undefined). */
  readonly onTrouble: (error: unknown) => void
}

/** Runs until aborted; throws what trying again cannot mend. */
export async function followCollection<T extends KubeObject>(
  following: Following<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, onTrouble } = following
  let troubleSinceMs: number | undefined
  let delayMs: number = retryMs.first
  let wasAllowed = false
  let refusedSinceMs: number | undefined
  const onList = () => {
    wasAllowed = true
    refusedSinceMs = undefined
    if (troubleSinceMs !== undefined) onTrouble(undefined)
    troubleSinceMs = undefined
    delayMs = retryMs.first
  }
  while (!signal.aborted) {
    try {
      await listAndWatch(following, onList, signal)
    } catch (error) {
      if (signal.aborted) return
      if (isKubeError(error, 'Expired')) continue
      const isRefused = wasAllowed && isKubeError(error, 'Forbidden', 'Unauthorized')
      if (!isRefused && !isKubeError(error, 'Unreachable', 'Timeout', 'ServerError', 'TooManyRequests')) throw error
      troubleSinceMs ??= clock.monotonicMs()
      if (!isRefused) refusedSinceMs = undefined
      else refusedSinceMs ??= clock.monotonicMs()
      if (clock.monotonicMs() - troubleSinceMs > patienceMs) throw error
      if (refusedSinceMs !== undefined && clock.monotonicMs() - refusedSinceMs > refusedPatienceMs) throw error
      onTrouble(error)
      await pause(clock, delayMs, signal)
      delayMs = Math.min(retryMs.most, delayMs * 2)
    }
  }
}

async function listAndWatch<T extends KubeObject>(
  { api, type, selection, onChange }: Following<T>,
  onList: () => void,
  signal: AbortSignal,
): Promise<void> {
  const listing = await listAll(api, type, selection, signal)
  const objects = new Map(listing.items.map((object) => [object.metadata.name, object]))
  let { resourceVersion } = listing
  onList()
  onChange(objects)
  while (!signal.aborted) {
    await api.watch(
      type,
      { ...selection, resourceVersion },
      (event) => {
        if (event.type === 'BOOKMARK') {
          resourceVersion = event.resourceVersion
          return
        }
        resourceVersion = event.object.metadata.resourceVersion
        if (event.type === 'DELETED') objects.delete(event.object.metadata.name)
        else objects.set(event.object.metadata.name, event.object)
        onChange(objects)
      },
      signal,
    )
  }
}

/** Resolves after the delay, or as soon as the signal is aborted. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      cancel()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(delayMs, finish)
    signal.addEventListener('abort', finish, { once: true })
  })
}
