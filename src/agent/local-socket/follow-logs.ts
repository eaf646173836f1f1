import { sleep } from '../../kube/sleep.ts'
import { findLogs, type LogWish } from '../logs/step-logs.ts'
import type { SideTaskContext } from '../side-task.ts'

/** A log grows by the line: its notifications would be as many, so it is read at this pace instead while somebody looks. */
const paceMs = 500
const chunkBytes = 64 * 1024

/** Hands over the end of what is there and then what is written later, also by steps that begin later; until aborted. */
export async function followLogs(
  { host, clock, stateDir }: SideTaskContext,
  wish: LogWish,
  endBytes: number,
  tell: (text: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const read = new Map<string, number>()
  for (let isFirst = true; ; isFirst = false) {
    const { folder, files } = await findLogs(host.disk, stateDir, wish)
    for (const file of files) {
      const path = `${folder}/${file}`
      const bytes = (await host.disk.bytes(path)) ?? 0
      // A log that grew too long was cut in its middle meanwhile: only its end is as it was.
      if (isFirst || bytes < (read.get(path) ?? 0)) read.set(path, Math.max(0, bytes - endBytes))
      for (;;) {
        const offset = read.get(path) ?? 0
        const part = await host.disk.readFrom(path, offset, chunkBytes)
        if (!part || part.bytes === 0) break
        await tell(part.text.replace(/^\uFFFD+/, ''))
        read.set(path, offset + part.bytes)
      }
    }
    await sleep(clock, paceMs, signal)
  }
}
