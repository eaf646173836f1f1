// How an update stands, from the counts of its nodes: its phase, its summary and its conditions.

import type { DirectUpdateStatus, UpdateCondition, UpdatePhase } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import { isLastStep, type PathStep, stepText } from './path-step.ts'

export interface Counts {
  readonly waiting: number
  readonly working: number
  readonly attention: number
  readonly failed: number
  readonly done: number
  readonly skipped: number
}

export interface ProgressView {
  readonly update: string
  readonly counts: Counts
  /** Slots the operation still holds: it has not succeeded before the last one is returned. */
  readonly slots: number
  /** Those of them whose nodes failed or need a person. */
  readonly stuckSlots: number
  /** Why nothing new starts any more: too many nodes failed, or its time is over. */
  readonly stop: Reason | undefined
  /** Why the next node does not start, where one waits; after the last one, why it is not over. */
  readonly waitingFor: Reason | undefined
  /** What a person wants of it. */
  readonly desired: 'Running' | 'Paused' | 'Cancelled'
  /** Its last wave is done and is being looked at. */
  readonly soaking: boolean
  /** What its nodes are to have, where it was looked up. */
  readonly wanted?: string | undefined
  /** A few of those that failed or need a person. */
  readonly broken: readonly string[]
  /** Those of all of them that a person wants left out. */
  readonly leftOut?: readonly string[]
  /** Where it is on a path of several steps. */
  readonly step?: PathStep | undefined
}

/** What holds it up will not pass by itself. */
const needsPerson: ReadonlySet<Reason['code']> = new Set([
  'FailedNodesInTheWay',
  'GateFailed',
  'HookFailed',
  'BackupFailed',
  'BackupStoreMissing',
])

/** What passes by itself, though another node needs a person; what comes to no good end has a code of its own. */
const soonOver: ReadonlySet<Reason['code']> = new Set([
  'NodesStaging',
  'WaitingForAgent',
  'GateWaiting',
  'HookRunning',
  'BackupRunning',
])

export function phaseOf(view: ProgressView): UpdatePhase {
  const { counts, stop, slots, stuckSlots, desired, soaking, waitingFor, step } = view
  const { waiting, working, attention, failed } = counts
  // What comes with a later step is still to be done, too.
  const hasMore = waiting > 0 || !isLastStep(step)
  // After the last node a soak, a gate or a hook may stand between it and its end: who cancels does not wait for them.
  const waits = hasMore || soaking || (waitingFor !== undefined && needsPerson.has(waitingFor.code))
  const isCancelled = desired === 'Cancelled' && waits
  // With one that was just given, or is on its way back, it is about to be decided anew what the next node waits for.
  const isMoving = slots > stuckSlots
  const isBusy = working > 0 || (isCancelled && isMoving)
  if (!isBusy && !(attention > 0 && goesOn(view))) {
    if (attention > 0) return 'RequiresAttention'
    if (isCancelled) return 'Cancelled'
    if ((hasMore && stop !== undefined) || (waiting === 0 && failed > 0)) return 'Failed'
    if (waitingFor && (needsPerson.has(waitingFor.code) || isUnfit(view)) && !isMoving) return 'RequiresAttention'
    if (!hasMore && slots === 0 && !soaking && !waitingFor) return 'Succeeded'
  }
  return desired === 'Paused' ? 'Paused' : 'InProgress'
}

/** A host lacks what the target needs, and somebody has to change it. Checks between two steps are looked at again by themselves. */
function isUnfit({ counts, waitingFor }: ProgressView): boolean {
  return counts.waiting > 0 && waitingFor?.code === 'PreflightFailed'
}

/** Others have their turn beside the nodes that need a person. */
function goesOn({ counts, stop, slots, stuckSlots, desired, waitingFor }: ProgressView): boolean {
  if (counts.waiting === 0 || stop !== undefined || desired !== 'Running') return false
  // With a slot that is on its way back it is about to be decided anew what the next one waits for.
  return slots > stuckSlots || waitingFor === undefined || soonOver.has(waitingFor.code)
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
  const { counts, waitingFor, slots, stuckSlots } = view
  const { failed, attention } = counts
  const over = phase === 'Succeeded' || phase === 'Failed' || phase === 'Cancelled'
  // A slot that is on its way back counts as work: what holds the next node up then is about to be decided anew.
  const busy = counts.working > 0 || slots > stuckSlots
  const blocked = !over && phase !== 'Paused' && waitingFor !== undefined && !busy
  const said = sentence(phase, view)
  const say = (type: string, holds: boolean, reason: string, message: string) => ({
    type,
    status: holds ? ('True' as const) : ('False' as const),
    reason,
    message,
  })
  const why = phase === 'Failed' ? (failed > 0 ? 'NodesFailed' : (view.stop?.code ?? 'NodesFailed')) : phase
  const isStalled = attention > 0 || phase === 'Failed' || phase === 'Cancelled' || phase === 'Paused' || blocked
  return [
    say('Progressing', !over && !blocked && phase === 'InProgress', phase, said),
    say('Blocked', blocked, blocked ? waitingFor.code : phase, blocked ? waitingFor.message : said),
    say('Succeeded', phase === 'Succeeded', phase, said),
    say('Failed', phase === 'Failed', why, said),
    say('Reconciling', !over, phase, said),
    say('Stalled', isStalled, phase, said),
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

/** A gate is asked again by itself, a hook or a backup only when somebody says so. */
function afterHook({ waitingFor, update }: ProgressView): string {
  return waitingFor?.code === 'HookFailed' || waitingFor?.code === 'BackupFailed'
    ? `; put that right, then slipway retry ${update}`
    : ''
}

function sentence(phase: UpdatePhase, view: ProgressView): string {
  const { step } = view
  const said = sentenceOfStep(phase, view)
  return step && step.of > 1 && phase !== 'Succeeded' ? `${stepText(step)}: ${said}` : said
}

function sentenceOfStep(phase: UpdatePhase, view: ProgressView): string {
  const { counts, waitingFor, update, stop, desired } = view
  const { progress } = summaryOf(counts)
  const names = view.broken.length > 0 ? ` (${view.broken.join(', ')})` : ''
  const underWork = counts.working > 0 ? `, ${counts.working} under work` : ''
  const inNeed = counts.attention > 0 ? `, ${counts.attention} need a person${names}` : ''
  switch (phase) {
    case 'Succeeded':
      return counts.done === 0 && counts.skipped > 0 && view.wanted !== undefined
        ? `all ${progress} nodes have ${view.wanted} already or are left out; nothing was touched`
        : `all ${progress} nodes are done`
    case 'Failed':
      if (counts.failed > 0 && view.leftOut?.length === counts.failed)
        return `${progress} nodes done, ${counts.failed} failed and left out${names}: slipway release ${view.broken.join(' ')}, then slipway retry ${update}`
      return counts.failed > 0
        ? `${progress} nodes done, ${counts.failed} failed${names} and wait for a person: look at each with slipway why NODE, then slipway retry ${update}`
        : `${progress} nodes done; ${stop?.message ?? 'it was stopped'}`
    case 'RequiresAttention':
      if (counts.attention > 0 && desired === 'Cancelled')
        return `being cancelled: ${progress} nodes done, ${counts.attention} need a person${names}: look at each with slipway why NODE and put it right there; nothing is tried again`
      return counts.attention > 0
        ? `${progress} nodes done, ${counts.attention} need a person${names}: look at each with slipway why NODE, then slipway retry ${update}`
        : `${progress} nodes done; ${waitingFor?.message ?? 'a person is needed'}${afterHook(view)}`
    case 'Paused':
      return `paused: ${progress} nodes done${underWork}; go on with slipway resume ${update}`
    case 'Cancelled':
      return counts.failed > 0
        ? `cancelled: ${progress} nodes done, ${counts.failed} failed${names}: look at each with slipway why NODE, then slipway release NODE; the others are as they were`
        : `cancelled: ${progress} nodes done, the others are as they were`
    default:
      if (desired === 'Cancelled') return `being cancelled: ${progress} nodes done${underWork}`
      return `${progress} nodes done, ${counts.working} under work${inNeed}${waitingFor ? `; next: ${waitingFor.message}` : ''}`
  }
}
