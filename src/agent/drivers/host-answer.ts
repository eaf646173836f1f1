import type { ReasonCode } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { jsonOf } from '../../core/json-text.ts'
import type { Command, Host } from '../../ports/host.ts'
import type { Schema } from '../journal/sealed-file.ts'

/** What the program printed; throws what it complained about when it did not end well. */
export async function answerOf(
  host: Host,
  command: Command,
  signal: AbortSignal,
  code: ReasonCode = 'StepFailed',
): Promise<string> {
  const { exitCode, stdout, stderr } = await host.run(command, signal)
  if (exitCode === 0) return stdout
  const complaint = (stderr.trim() === '' ? stdout : stderr).trim().slice(-400)
  throw new SlipwayError(code, `${nameOf(command)} ended with exit code ${exitCode}: ${complaint}`)
}

/** The JSON the program printed, parsed at the door. */
export async function jsonAnswerOf<T>(
  host: Host,
  command: Command,
  schema: Schema<T>,
  signal: AbortSignal,
): Promise<T> {
  const text = await answerOf(host, command, signal)
  const parsed = schema.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  throw new SlipwayError('StepFailed', `${nameOf(command)} printed something unexpected: ${text.slice(0, 200)}`)
}

function nameOf({ argv }: Command): string {
  return argv.join(' ').slice(0, 200)
}
