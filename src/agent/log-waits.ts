// A program may say in its log that it waits for somebody.

import type { Reason } from '../api/reason.ts'
import type { Clock } from '../ports/clock.ts'
import type { Disk } from '../ports/disk.ts'
import type { LookForWait } from './telling-waits.ts'

export interface LogWaits {
  readonly clock: Clock
  readonly disk: Disk
  readonly logPath: string
  /** What the last line of the log says it waits for. */
  waitsFor(line: string): Reason | undefined
}

/** Who waits says so again and again. A log that stays as it is belongs to a program that works and says nothing. */
const silentMs = 20_000
const lineBytes = 1024
const everyMs = 5_000

export function logWait({ clock, disk, logPath, waitsFor }: LogWaits): LookForWait {
  let bytes: number | undefined
  let grewAtMs = clock.monotonicMs()
  return {
    everyMs,
    look: async () => {
      const now = await disk.bytes(logPath)
      if (now !== bytes) grewAtMs = clock.monotonicMs()
      bytes = now
      const isSilent = clock.monotonicMs() - grewAtMs >= silentMs
      const line = isSilent ? undefined : lastLine(await disk.readTail(logPath, lineBytes))
      return line === undefined ? undefined : waitsFor(line)
    },
  }
}

function lastLine(tail: string | undefined): string | undefined {
  return tail?.trimEnd().split('\n').at(-1)
}
