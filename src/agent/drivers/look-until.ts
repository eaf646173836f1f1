import type { Host } from '../../ports/host.ts'

/**
 * Looks again until nothing is missing, `tries` times at most; returns what is missing still. In between the machine waits,
 * not the agent: what is waited for happens there.
 */
export async function lookUntil(
  host: Host,
  look: () => Promise<string | undefined>,
  { tries, pauseSeconds }: { readonly tries: number; readonly pauseSeconds: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let left = tries; ; left--) {
    const missing = await look()
    if (missing === undefined || left <= 1) return missing
    await host.run({ argv: ['sleep', String(pauseSeconds)], timeoutMs: (pauseSeconds + 30) * 1000 }, signal)
  }
}
