import type { Clock } from '../../ports/clock.ts'

/** Resolves after that time, or at once when asked to stop: the caller looks at the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const wake = (): void => {
      cancel()
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    signal.addEventListener('abort', wake, { once: true })
  })
}
