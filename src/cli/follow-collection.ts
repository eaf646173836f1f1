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
/** A stream that lasted so long was healthy, even if nothing happened on it. */
const healthyMs = 1000

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
  }
  const onHealthy = () => {
    delayMs = retryMs.first
  }
  /** Throws what trying again cannot mend, or has not for long. */
  const bear = (error: unknown) => {
    const isRefused = wasAllowed && isKubeError(error, 'Forbidden', 'Unauthorized')
    if (!isRefused && !isKubeError(error, 'Unreachable', 'Timeout', 'ServerError', 'TooManyRequests')) throw error
    troubleSinceMs ??= clock.monotonicMs()
    if (!isRefused) refusedSinceMs = undefined
    else refusedSinceMs ??= clock.monotonicMs()
    if (clock.monotonicMs() - troubleSinceMs > patienceMs) throw error
    if (refusedSinceMs !== undefined && clock.monotonicMs() - refusedSinceMs > refusedPatienceMs) throw error
    onTrouble(error)
  }
  while (!signal.aborted) {
    try {
      await listAndWatch(following, { onList, onHealthy }, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!isKubeError(error, 'Expired')) bear(error)
    }
    await pause(clock, delayMs, signal)
    delayMs = Math.min(retryMs.most, delayMs * 2)
  }
}

interface Course {
  readonly onList: () => void
  readonly onHealthy: () => void
}

/** Ends where the server is not to be hurried: it ended a stream as soon as it was opened, as one does that is going down. */
async function listAndWatch<T extends KubeObject>(
  { api, clock, type, selection, onChange }: Following<T>,
  { onList, onHealthy }: Course,
  signal: AbortSignal,
): Promise<void> {
  const listing = await listAll(api, type, selection, signal)
  const objects = new Map(listing.items.map((object) => [object.metadata.name, object]))
  let { resourceVersion } = listing
  onList()
  onChange(objects)
  while (!signal.aborted) {
    const openedMs = clock.monotonicMs()
    let hasHeard = false
    const isHealthy = () => hasHeard || clock.monotonicMs() - openedMs >= healthyMs
    try {
      await api.watch(
        type,
        { ...selection, resourceVersion },
        (event) => {
          hasHeard = true
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
    } finally {
      if (isHealthy()) onHealthy()
    }
    if (!isHealthy()) return
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
