// Somebody was asked by a write to an object, and answers in its status: wait for that, but not for ever.

import type { KubeObject, ResourceType } from '../api/kube.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { CancelTimer } from '../ports/clock.ts'
import type { CommandContext } from './command-context.ts'
import { followCollection } from './follow-collection.ts'

export interface Question<T extends KubeObject, Answer> {
  readonly type: ResourceType<T>
  readonly name: string
  /** Called with the object as it is now, if it is there; says that it is worth waiting on, or what the answer is. */
  look(object: T | undefined): Heard<Answer>
  /** For a minute nobody took it up. */
  late(): SlipwayError
  /** What to say to a person who stops waiting. */
  readonly stopped: string
}

export type Heard<Answer> =
  | { readonly heard: 'nothing' | 'taken-up' }
  | { readonly heard: 'answer'; readonly answer: Answer }
  | { readonly heard: 'failure'; readonly error: SlipwayError }

/** One that works answers, or takes the question up, within a second or two. */
const patienceMs = 60_000

export async function awaitAnswer<T extends KubeObject, Answer>(
  context: CommandContext,
  { type, name, look, late, stopped }: Question<T, Answer>,
): Promise<Answer> {
  const { clock, signal } = context
  const stop = new AbortController()
  const found = Promise.withResolvers<Answer>()
  const onAbort = () => found.reject(new SlipwayError('Stopped', stopped))
  const startWaiting = () => clock.after(patienceMs, () => found.reject(late()))
  let patience: CancelTimer | undefined = startWaiting()
  signal.addEventListener('abort', onAbort, { once: true })
  const onChange = (objects: ReadonlyMap<string, T>) => {
    const said = look(objects.get(name))
    if (said.heard === 'answer') found.resolve(said.answer)
    if (said.heard === 'failure') found.reject(said.error)
    if (said.heard === 'nothing') patience ??= startWaiting()
    if (said.heard === 'taken-up') {
      patience?.()
      patience = undefined
    }
  }
  const selection = { fieldSelector: `metadata.name=${name}` }
  const following = { api: await context.api(), clock, type, selection, onChange, onTrouble: () => undefined }
  followCollection(following, stop.signal).catch(found.reject)
  try {
    return await found.promise
  } finally {
    patience?.()
    stop.abort()
    signal.removeEventListener('abort', onAbort)
  }
}
