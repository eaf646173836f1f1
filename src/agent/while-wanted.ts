// Staging may take hours, and nobody asks in between whether it is still wanted: so that is watched beside it.

import { LinkedAbort } from '../kube/linked-abort.ts'
import type { CancelTimer } from '../ports/clock.ts'
import type { Gatekeeper, Permission, Refusal } from './permission.ts'

/** Why work that is under way ends though the agent goes on. */
export class NoLongerWanted extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.reason.message)
    this.refusal = refusal
  }
}

/** Its time may be over, or the watch be in step with the API at last, without any change. */
const lookEveryMs = 30_000

/** Throws NoLongerWanted, which is also the reason of the signal that the work is given, once it may not go on. */
export async function whileWanted<T>(
  { store, clock }: Pick<Gatekeeper, 'store' | 'clock'>,
  permission: () => Permission,
  work: (wanted: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const wanted = new LinkedAbort(signal)
  let refused: NoLongerWanted | undefined
  const look = () => {
    const now = permission()
    if (now.may || refused) return
    refused = new NoLongerWanted(now)
    wanted.abort(refused)
  }
  let cancel: CancelTimer | undefined
  const lookAgain = () => {
    look()
    cancel = clock.after(lookEveryMs, lookAgain)
  }
  lookAgain()
  const unsubscribe = store.subscribe(look)
  try {
    const result = await work(wanted.signal)
    if (refused) throw refused
    return result
  } catch (error) {
    throw refused ?? error
  } finally {
    cancel?.()
    unsubscribe()
    wanted.abort('the work is over')
  }
}
