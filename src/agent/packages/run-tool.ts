import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandResult, Host } from '../../ports/host.ts'

/** For asking an index, and for downloading. */
export const askMs = 300_000
export const downloadMs = 3_600_000

const manyBytes = 32 * 1024 * 1024

/** While staging: a tool that takes too long may be faster next time, so it is tried again like any other staging. */
export async function runTool(
  host: Host,
  argv: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandResult> {
  try {
    return await host.run({ argv, env: { LC_ALL: 'C' }, timeoutMs, outputBytes: manyBytes }, signal)
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'CommandTimedOut') throw error
    throw new SlipwayError('StagingFailed', error.message, { cause: error })
  }
}

/** What a tool said about its failure, short enough for a reason. */
export function failureText({ exitCode, stdout, stderr }: CommandResult): string {
  const text = (stderr.trim() || stdout.trim()).slice(-1500)
  return text === '' ? `exit code ${exitCode}` : text
}
