// How an update stands, from the counts of its nodes: its phase, its summary and its conditions.

import type { DirectUpdateStatus, UpdateCondition, UpdatePhase } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'

export interface Counts {
  readonly waiting: number
  readonly working: number
  readonly attention: number
  readonly failed: number
  readonly done: number
  readonly skipped: number
}

export interface ProgressView {
  readonly counts: Counts
  /** Slots the operation still holds: it has not succeeded before the last one is returned. */
  readonly slots: number
  /** Too many nodes failed: nothing new starts. */
  readonly stopped: boolean
  /** Why the next node does not start, where one waits; after the last one, why it is not over. */
  readonly waitingFor: Reason | undefined
}

/** What holds it up will not pass by itself. */
const needsPerson: ReadonlySet<Reason['code']> = new Set(['GateFailed', 'HookFailed'])

export function phaseOf({ counts, stopped, slots, waitingFor }: ProgressView): UpdatePhase {
  const { waiting, working, attention, failed } = counts
  if (working > 0) return 'InProgress'
  if (attention > 0) return 'RequiresAttention'
  if (waitingFor && needsPerson.has(waitingFor.code) && !(failed > 0 && stopped)) return 'RequiresAttention'
  if (failed > 0 && (stopped || waiting === 0)) return 'Failed'
  return waiting === 0 && slots === 0 && !waitingFor ? 'Succeeded' : 'InProgress'
}

export function summaryOf(counts: Counts): Pick<Required<DirectUpdateStatus>, 'summary' | 'progress'> {
  const { waiting, working, attention, failed, done, skipped } = counts
  const total = waiting + working + attention + failed + done + skipped
  return {
    summary: { total, done, working: working + attention, waiting, failed, skipped },
    progress: `${done + skipped}/${total}`,
  }
}

export function conditionsOf(
  phase: UpdatePhase,
  view: ProgressView,
): readonly Omit<UpdateCondition, 'lastTransitionTime'>[] {
  const { counts, waitingFor, slots } = view
  const { failed, attention } = counts
  const over = phase === 'Succeeded' || phase === 'Failed'
  // A slot that is on its way back counts as work: what holds the next node up then is about to be decided anew.
  const busy = counts.working > 0 || slots > failed + attention
  const blocked = !over && waitingFor !== undefined && !busy
  const failure = `${failed} node(s) failed; they stay cordoned until the update is edited or deleted`
  const say = (type: string, holds: boolean, reason: string, message: string) => ({
    type,
    status: holds ? ('True' as const) : ('False' as const),
    reason,
    message,
  })
  return [
    say('Progressing', !over && !blocked && phase === 'InProgress', phase, sentence(phase, view)),
    say('Blocked', blocked, blocked ? waitingFor.code : phase, blocked ? waitingFor.message : 'nothing holds it up'),
    say('Succeeded', phase === 'Succeeded', phase, sentence(phase, view)),
    say(
      'Failed',
      phase === 'Failed',
      phase === 'Failed' ? 'NodesFailed' : phase,
      phase === 'Failed' ? failure : sentence(phase, view),
    ),
    say('Reconciling', !over, phase, sentence(phase, view)),
    say('Stalled', attention > 0 || phase === 'Failed' || blocked, phase, sentence(phase, view)),
  ]
}

/** Keeps the instant of conditions that did not change, as the API's conventions ask. */
export function mergeConditions(
  before: readonly UpdateCondition[],
  after: readonly Omit<UpdateCondition, 'lastTransitionTime'>[],
  at: string,
  generation: number | undefined,
): UpdateCondition[] {
  const kept = before.filter(({ type }) => !after.some((condition) => condition.type === type))
  return [
    ...kept,
    ...after.map((condition) => {
      const old = before.find(({ type }) => type === condition.type)
      return {
        ...condition,
        message: condition.message.slice(0, 4000),
        lastTransitionTime: old?.status === condition.status ? old.lastTransitionTime : at,
        ...(generation !== undefined && { observedGeneration: generation }),
      }
    }),
  ]
}

function sentence(phase: UpdatePhase, { counts, waitingFor }: ProgressView): string {
  const { progress } = summaryOf(counts)
  switch (phase) {
    case 'Succeeded':
      return `all ${progress} nodes are done`
    case 'Failed':
      return `${counts.failed} node(s) failed, ${progress} done`
    case 'RequiresAttention':
      return `${counts.attention} node(s) need a person, ${progress} done`
    default:
      return `${progress} nodes done, ${counts.working} under work${waitingFor ? `; next: ${waitingFor.message}` : ''}`
  }
}
