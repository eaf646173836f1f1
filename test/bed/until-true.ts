import { setTimeout as wait } from 'node:timers/promises'

/** Asks again until it is so; an error counts as no. */
export async function untilTrue(what: string, isSo: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const endMs = performance.now() + withinMs
  for (;;) {
    let problem: unknown
    try {
      if (await isSo()) return
    } catch (error) {
      problem = error
    }
    if (performance.now() > endMs) throw new Error(`never came: ${what}`, { cause: problem })
    await wait(100)
  }
}
