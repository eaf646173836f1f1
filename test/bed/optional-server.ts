import { sayToStderr } from './programs.ts'

/**
 * A server that not every machine can have. On a laptop the answer is why there is none, said loudly, and its tests are skipped; where
 * it is required (CI, or SLIPWAY_REQUIRE_API_SERVER=1) its absence is thrown.
 */
export async function serverOrReason<T>(title: string, start: () => Promise<T>): Promise<T | string> {
  try {
    return await start()
  } catch (error) {
    if (process.env.CI || process.env.SLIPWAY_REQUIRE_API_SERVER === '1') throw error
    const reason = error instanceof Error ? error.message : String(error)
    sayToStderr(`\n*** TESTS WITH ${title} SKIPPED: ${reason}\n`)
    return reason
  }
}
