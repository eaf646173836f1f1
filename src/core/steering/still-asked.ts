// A word for some nodes takes the place of the one before. What that one asked for and has not come yet is asked for again with it:
// a node may wait for a slot, a window, a gate or a person for long after it was said that it is tried again.

import { namedAtMost } from '../../api/console.ts'
import type { NodeState } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Retry } from '../../api/steering.ts'
import { isRetryDue } from '../update/retry.ts'

interface Before {
  readonly retry: Retry | undefined
  readonly skip?: ReadonlySet<string>
  /** Whether an operation is of what the word was said to. */
  readonly isOurs: (operationID: string) => boolean
}

/** Whom the word before means and nobody has tried again yet. */
export function stillAsked(before: Before, states: readonly NodeState[]): readonly string[] {
  const { retry } = before
  if (!retry) return []
  return states.filter((state) => isStillAsked(before, retry, state)).map(({ metadata }) => metadata.name)
}

function isStillAsked({ skip, isOurs }: Before, retry: Retry, { metadata: { name }, status }: NodeState): boolean {
  const { rollout, failed = [] } = status ?? {}
  const ours = [...(rollout ? [rollout] : []), ...failed].filter(({ operationID }) => isOurs(operationID))
  if (ours.some((one) => isRetryDue({ id: one.operationID, retry, ...(skip && { skip }) }, name, one))) return true
  // One that was named though it is left out goes on by that name until it is under work.
  return retry.nodes?.includes(name) === true && ours.some(({ phase }) => phase === 'Staging' || phase === 'Pending')
}

interface NewWord {
  readonly named: readonly string[]
  /** For the sentence that answers: what becomes of those whom the word before means. */
  readonly also: string
}

/** `isFollowed`: some of them may have been tried since. `states`: undefined where this person may not read whether they were. */
export function withStillAsked(
  nodes: readonly string[],
  before: Before & { readonly isFollowed: boolean },
  states: readonly NodeState[] | undefined,
): NewWord {
  const still = states ? stillAsked(before, states) : toldBefore(before)
  const named = [...new Set([...nodes, ...still])]
  if (named.length > namedAtMost)
    throw new SlipwayError('Refused', `with those asked for before, ${named.length} nodes are to be tried again`, {
      nextStep: `one word names at most ${namedAtMost}: wait until some were tried, or try all again, without names`,
    })
  const others = named.filter((name) => !nodes.includes(name))
  const also = others.length === 0 ? '' : `; still to be tried by the word before: ${firstOf(others)}`
  const leftOut = states ? [] : (before.retry?.nodes ?? []).filter((name) => !named.includes(name))
  const why = 'you may not read whether they were tried; if not, name all together'
  return {
    named,
    also: leftOut.length === 0 ? also : `${also}; left out of the word before: ${firstOf(leftOut)} (${why})`,
  }
}

function toldBefore({ retry, isFollowed }: { readonly retry: Retry | undefined; readonly isFollowed: boolean }) {
  if (!retry) return []
  // Work that nobody asked for is worse than a name left out: the person is told, and can say it again.
  if (retry.nodes) return isFollowed ? [] : retry.nodes
  throw new SlipwayError('Refused', 'the word before was for all nodes, and you may not read whom it has not reached', {
    nextStep: 'try all again, without names; or ask for the right to list nodestates',
  })
}

function firstOf(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `${names.slice(0, 5).join(', ')}${more}`
}
