// What a program waits for is looked at while it is waited for, and told: people need not wait for its end to learn whom to ask.

import type { Reason } from '../api/reason.ts'
import { equalJson } from '../core/merge-patch.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import { sleep } from '../kube/sleep.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { messageOf } from './step-verdict.ts'

/** Made for one wait, and asked again and again in it. */
export interface LookForWait {
  readonly everyMs: number
  /** Undefined where there is nothing to tell. */
  look(): Promise<Reason | undefined>
}

export interface TellingWaits {
  readonly clock: Clock
  readonly log: Log
  /** Each is asked by itself; of what they see last, the first reason is told. */
  readonly looks: readonly LookForWait[]
  /** Called when that changes; with undefined when it goes on or is over. */
  tell(reason: Reason | undefined): void
}

/** Does the work, and looks meanwhile. A look that fails saw nothing that time, and holds nothing up. */
export async function tellingWaits<T>(
  { clock, log, looks, tell }: TellingWaits,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const over = new LinkedAbort(signal)
  const seen = new Map<LookForWait, Reason | undefined>()
  let told: Reason | undefined
  const watch = async (each: LookForWait): Promise<void> => {
    let isBlind = false
    for (;;) {
      await sleep(clock, each.everyMs, over.signal)
      const [answer] = await Promise.allSettled([each.look()])
      over.signal.throwIfAborted()
      const wasBlind = isBlind
      isBlind = answer.status === 'rejected'
      if (answer.status === 'rejected' && !wasBlind)
        log.warn('cannot see what a step waits for', { error: messageOf(answer.reason) })
      seen.set(each, answer.status === 'fulfilled' ? answer.value : undefined)
      const reason = looks.map((look) => seen.get(look)).find((one) => one !== undefined)
      if (!equalJson(reason, told)) tell(reason)
      told = reason
    }
  }
  // They end when the wait is over.
  for (const each of looks) watch(each).catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort('the wait is over')
    if (told && !signal.aborted) tell(undefined)
  }
}
