// How much of its time an update has used. The clock stands still while work is not allowed.

import type { Timer } from '../../api/steering.ts'

export function usedMs(timer: Timer | undefined, now: Date): number {
  if (!timer) return 0
  const running = timer.runningSince === undefined ? 0 : Math.max(0, now.getTime() - Date.parse(timer.runningSince))
  return timer.usedSeconds * 1000 + running
}

/** The timer as it must stand now; the same object while nothing starts or stops it. */
export function turnTimer(timer: Timer | undefined, allowed: boolean, now: Date): Timer {
  const isRunning = timer?.runningSince !== undefined
  if (timer && isRunning === allowed) return timer
  return {
    usedSeconds: Math.floor(usedMs(timer, now) / 1000),
    ...(allowed && { runningSince: now.toISOString() }),
  }
}
