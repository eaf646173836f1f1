import { isKubeError } from '../api/kube-error.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { Log } from '../ports/log.ts'
import type { Key } from './store.ts'
import type { WorkQueue } from './work-queue.ts'

/** Reads everything about the key and brings it one step on; safe to run twice. Throws to be retried. */
export type Reconcile = (key: Key, signal: AbortSignal) => Promise<{ readonly afterMs?: number } | undefined>

export interface ControllerOptions {
  readonly name: string
  readonly queue: WorkQueue
  readonly reconcile: Reconcile
  readonly workers: number
  readonly log: Log
  readonly onResult?: (key: Key, outcome: 'ok' | 'retry', error?: unknown) => void
}

/**
 * Works on as many keys at once as there are workers, until aborted; resolves when the last one has been put down. A failure is logged with its code
 * and retried with back-off; a conflict only means that somebody else wrote first, so it is retried without a warning.
 */
export async function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  let free = options.workers
  let onFreed = (): void => undefined
  const freed = () => {
    free += 1
    onFreed()
  }
  const next = () => new Promise<void>((resolve) => (onFreed = resolve))
  for (let key = await options.queue.get(signal); key !== undefined; key = await options.queue.get(signal)) {
    free -= 1
    void work(options, key, signal).then(freed)
    if (free === 0) await next()
  }
  while (free < options.workers) await next()
}

async function work(options: ControllerOptions, key: Key, signal: AbortSignal): Promise<void> {
  const { queue } = options
  try {
    const result = await options.reconcile(key, signal)
    queue.forget(key)
    if (result?.afterMs !== undefined) queue.addAfter(key, result.afterMs)
    options.onResult?.(key, 'ok')
  } catch (error) {
    if (signal.aborted) return
    retryLater(options, key, error)
    options.onResult?.(key, 'retry', error)
  } finally {
    queue.done(key)
  }
}

function retryLater(options: ControllerOptions, key: Key, error: unknown): void {
  const { queue, log } = options
  const fields = { controller: options.name, key, code: codeOf(error), error }
  if (isKubeError(error, 'Conflict') || (error instanceof SlipwayError && error.code === 'NotLeader')) {
    log.debug('reconcile overtaken, will run again', fields)
  } else {
    log.warn('reconcile failed, will run again', fields)
  }
  if (isKubeError(error) && error.retryAfterMs !== undefined) queue.addAfter(key, error.retryAfterMs)
  else queue.addRateLimited(key)
}

function codeOf(error: unknown): string {
  return isKubeError(error) || error instanceof SlipwayError ? error.code : 'Internal'
}
