import type { CancelTimer, Clock } from '../../ports/clock.ts'

/** setTimeout takes no more; a longer wait is made of several. */
const longestMs = 2 ** 31 - 1

/** The machine's own time. `performance.now` is monotonic and goes on while the process is stopped by a signal. */
export class SystemClock implements Clock {
  now(): Date {
    return new Date()
  }

  monotonicMs(): number {
    return performance.now()
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    let timer: NodeJS.Timeout
    const wait = (restMs: number) => {
      timer = restMs > longestMs ? setTimeout(() => wait(restMs - longestMs), longestMs) : setTimeout(callback, restMs)
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  }
}
