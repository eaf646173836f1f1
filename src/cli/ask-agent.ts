// One request to the agent on this machine, its answers parsed at the door and its errors thrown as ours.

import { type LocalRequest, localAnswerSchema } from '../api/local-protocol.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { CommandContext } from './command-context.ts'
import { printableValue } from './printable.ts'

interface Schema<T> {
  parse(value: unknown): T
}

/** Hands over each answer; rejects with the agent's own error, and where the agent hung up without a last word. */
export async function askAgent<T>(
  context: CommandContext,
  socket: string,
  request: LocalRequest,
  schema: Schema<T>,
  onResult: (result: T) => void,
): Promise<void> {
  let isOver = false
  let failure: SlipwayError | undefined
  const client = await context.local()
  await client.ask(
    socket,
    JSON.stringify(request),
    (line) => {
      const answer = localAnswerSchema.parse(JSON.parse(line))
      if (answer.ok) onResult(printableValue(schema.parse(answer.result)))
      else failure = new SlipwayError(answer.error.code, answer.error.message, nextStepOf(answer.error))
      isOver = !answer.ok || !answer.more
    },
    context.signal,
  )
  if (failure) throw failure
  if (isOver) return
  throw new SlipwayError('CannotReach', `the agent behind ${socket} hung up before it had answered`, {
    nextStep: 'it was restarted, perhaps; ask again',
  })
}

function nextStepOf({ nextStep }: { readonly nextStep?: string | undefined }): { readonly nextStep?: string } {
  return nextStep === undefined ? {} : { nextStep }
}
