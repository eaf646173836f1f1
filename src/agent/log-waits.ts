// A program may say in its log that it waits for somebody. Looked at while it runs, so that people need not wait for its end to
// learn whom to ask.

import type { Reason } from '../api/reason.ts'
import { equalJson } from '../core/merge-patch.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import { sleep } from '../kube/sleep.ts'
import type { Clock } from '../ports/clock.ts'
import type { Disk } from '../ports/disk.ts'

export interface LogWaits {
  readonly clock: Clock
  readonly disk: Disk
  readonly logPath: string
  /** What the last line of the log says it waits for. */
  waitsFor(line: string): Reason | undefined
  /** Called when that changes; with undefined when it goes on. */
  tell(reason: Reason | undefined): void
}

const lookEveryMs = 5_000
/** Who waits says so again and again. A log that stays as it is belongs to a program that works and says nothing. */
const silentMs = 20_000
const lineBytes = 1024

/** Does the work, and looks at the log meanwhile. A log that cannot be read holds nothing up. */
export async function lookingAtLog<T>(waits: LogWaits, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new LinkedAbort(signal)
  watchLog(waits, over.signal).catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort('the program has ended')
  }
}

async function watchLog({ clock, disk, logPath, waitsFor, tell }: LogWaits, signal: AbortSignal): Promise<void> {
  let told: Reason | undefined
  let bytes: number | undefined
  let grewAtMs = clock.monotonicMs()
  for (;;) {
    await sleep(clock, lookEveryMs, signal)
    const now = await disk.bytes(logPath)
    if (now !== bytes) grewAtMs = clock.monotonicMs()
    bytes = now
    const isSilent = clock.monotonicMs() - grewAtMs >= silentMs
    const line = isSilent ? undefined : lastLine(await disk.readTail(logPath, lineBytes))
    const reason = line === undefined ? undefined : waitsFor(line)
    signal.throwIfAborted()
    if (!equalJson(reason, told)) tell(reason)
    told = reason
  }
}

function lastLine(tail: string | undefined): string | undefined {
  return tail?.trimEnd().split('\n').at(-1)
}
