// The drain ladder, pod by pod, each with a reason: skip what belongs to the node, refuse what the settings protect, let run
// what may end by itself, evict as budgets allow, and only where the settings say so: force. Rule 7: a forced deletion is on
// record in the NodeState before it is carried out.

import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import type { PodDrainState } from '../../api/node-state.ts'
import type { Reason, ReasonCode } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import { toleratesCordon } from '../node/node-facts.ts'
import { budgetName, budgetState } from './budget-text.ts'
import type { Allowance } from './drain-order.ts'
import { type Drain, type DrainRule, type DrainTimes, forceFrom, graceSecondsFor, ruleFor } from './drain-policy.ts'
import { controllerKind, hasEnded, podName, workloadOf } from './workload-of.ts'

export interface PodView {
  readonly pod: Pod
  readonly node: { readonly name: string; readonly ready: boolean }
  readonly times: DrainTimes
  /** The budgets that select this pod. */
  readonly budgets: readonly PodDisruptionBudget[]
  /** What is left for this node, when what we asked for and those before it are taken off. */
  readonly allowance: (budget: PodDisruptionBudget) => Allowance
  /** Who keeps the budget from allowing more, where somebody has looked. */
  readonly keeper?: ((budget: PodDisruptionBudget) => string | undefined) | undefined
  /** Why the API server refused its eviction, as long as it is not to be asked again. */
  readonly refusal?: Reason | undefined
  /** What the NodeState says of it already. */
  readonly recorded?: ReasonCode | undefined
  /** One of our own operator's pods, and whether another node could take it over. */
  readonly operator?: 'moves' | 'stays' | undefined
}

export type PodJudgement =
  /** Stays on the node; the drain does not wait for it. */
  | { readonly action: 'skip'; readonly reason: Reason }
  /** On its way out in good time: nothing a person has to know of. */
  | { readonly action: 'leave'; readonly reason: Reason; readonly nextMs: number }
  /** Must go, cannot be asked to now. */
  | { readonly action: 'wait'; readonly state: PodDrainState; readonly reason: Reason; readonly nextMs?: number }
  /** Ask for its eviction; `budgetUID` is charged until the budget's status shows it. */
  | ({ readonly action: 'evict'; readonly reason: Reason; readonly budgetUID?: string } & Grace)
  /** Delete it, whatever keeps it: with its grace, or with none. */
  | ({ readonly action: 'force'; readonly state: 'Forced'; readonly reason: Reason } & Grace)

interface Grace {
  /** Absent = as the pod says. */
  readonly graceSeconds?: number
}

type Wait = Extract<PodJudgement, { action: 'wait' }>

/** A pod that is still there this long after its grace is stuck. */
const overdueMs = 30_000

export function judgePod(view: PodView, drain: Drain): PodJudgement {
  const { pod } = view
  const name = podName(pod)
  const skip = (code: ReasonCode, message: string): PodJudgement => ({ action: 'skip', reason: { code, message } })
  if (pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) {
    return skip('PodMirror', `${name} is a static pod`)
  }
  if (controllerKind(pod) === 'DaemonSet') return skip('PodOfDaemonSet', `${name} belongs to a DaemonSet`)
  if (view.operator === 'stays') return skip('PodOfOperator', `${name} is the operator and no other node can take it`)
  const rule = ruleFor(pod, drain)
  if (rule?.action === 'Skip') return skip('PodSkipped', `${name} stays, as a drain rule says`)
  const forceMs = forceFrom(rule, drain, view.times)
  if (pod.metadata.deletionTimestamp !== undefined) return judgeLeaving(view, pod.metadata.deletionTimestamp, forceMs)
  if (hasEnded(pod)) return skip('PodFinished', `${name} has ended`)
  if (cameBack(view)) {
    return skip('PodReturned', `${name} came back in spite of the cordon, which it tolerates; it stays`)
  }
  const isForced = forceMs !== undefined && view.times.nowMs >= forceMs
  const completing = isForced ? undefined : letRun(view, rule)
  if (completing) return completing
  const isProtected = protect(view, rule, drain)
  if (isProtected) return isProtected
  const grace = gracePart(graceSecondsFor(rule, drain))
  const verdict = askFor(view, grace)
  if (verdict.action !== 'wait') return verdict
  if (isForced) return force(view, 'PodForced', `${name} is deleted in spite of this: ${verdict.reason.message}`, grace)
  return { ...verdict, nextMs: forceMs ?? view.times.deadlineMs }
}

/** Made since the drain began, and here all the same. It was asked to go once; asked again it would come again, without end. */
function cameBack({ pod, times }: PodView): boolean {
  return toleratesCordon(pod) && Date.parse(pod.metadata.creationTimestamp) >= times.sinceMs
}

/** A rule lets it run to its end: until the rule's time is over, or for as long as the drain may take. */
function letRun({ pod, times }: PodView, rule: DrainRule | undefined): Wait | undefined {
  if (rule?.action !== 'WaitForCompletion') return undefined
  const untilMs = rule.timeout === undefined ? undefined : times.sinceMs + parseDuration(rule.timeout)
  if (untilMs !== undefined && times.nowMs >= untilMs) return undefined
  const limit = rule.timeout === undefined ? '' : `, for ${rule.timeout} at most`
  return {
    action: 'wait',
    state: 'Completing',
    reason: { code: 'PodCompleting', message: `${podName(pod)} may run to its end${limit}, as a drain rule says` },
    nextMs: untilMs ?? times.deadlineMs,
  }
}

/** What only its owner may give up. A rule that names the pod is that word; a time-out is none. */
function protect({ pod, times }: PodView, rule: DrainRule | undefined, drain: Drain): Wait | undefined {
  if (rule?.action === 'Evict' || rule?.action === 'Force') return undefined
  const nextMs = times.deadlineMs
  if (controllerKind(pod) === undefined && drain.unmanagedPods === 'Block') {
    return { ...blocked('PodUnmanaged', `${podName(pod)} has no controller that would make it again`), nextMs }
  }
  if (drain.emptyDir === 'Block' && pod.spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined)) {
    return { ...blocked('PodKeepsData', `${podName(pod)} keeps data in an emptyDir`), nextMs }
  }
  return undefined
}

/** What the API server would say to an eviction, as far as can be told without asking it. */
function askFor(view: PodView, grace: Grace): PodJudgement {
  const { pod, refusal } = view
  if (refusal) return { action: 'wait', state: 'Blocked', reason: refusal }
  const name = podName(pod)
  const evict = { action: 'evict', reason: { code: 'PodEvicting', message: `evicting ${name}` }, ...grace } as const
  // Not started: the API server lets it go without a look at any budget.
  if (pod.status?.phase === 'Pending') return evict
  const [budget, second] = view.budgets
  if (budget && second) {
    return blocked(
      'PodUnderTwoBudgets',
      `${name} is selected by ${budgetName(budget)} and ${budgetName(second)}; the API server evicts no such pod`,
    )
  }
  if (!budget || evictsFreely(pod, budget)) return evict
  const { left, before } = view.allowance(budget)
  if (left > 0) return { ...evict, budgetUID: budget.metadata.uid }
  if (before !== undefined) {
    return blocked(
      'PodWaitsItsTurn',
      `${name} waits its turn for ${budgetName(budget)}: ${before} was taken earlier and goes first`,
    )
  }
  const workload = workloadOf(pod)
  const keeper = view.keeper?.(budget)
  return blocked(
    'PodDisruptionBudget',
    `${name}${workload === undefined ? '' : ` of ${workload}`} waits for ${budgetState(budget)}${keeper === undefined ? '' : `: ${keeper}`}`,
  )
}

/** It was told to go. Its deletion instant is when its grace is over. */
function judgeLeaving(view: PodView, deletionTimestamp: string, forceMs: number | undefined): PodJudgement {
  const { pod, node, times } = view
  const name = podName(pod)
  const overdueAtMs = Date.parse(deletionTimestamp) + overdueMs
  if (times.nowMs < overdueAtMs) {
    const reason: Reason = {
      code: 'PodTerminating',
      message: `${name} is shutting down, for which it has until ${deletionTimestamp}`,
    }
    return { action: 'leave', reason, nextMs: overdueAtMs }
  }
  const late = (code: ReasonCode, message: string): Wait => ({
    action: 'wait',
    state: 'Terminating',
    reason: { code, message },
    nextMs: forceMs ?? times.deadlineMs,
  })
  const { finalizers = [], deletionGracePeriodSeconds } = pod.metadata
  // Nothing of it runs any more, so there is nothing to be forced.
  if (deletionGracePeriodSeconds === 0 && finalizers.length > 0) {
    return late(
      'PodFinalizers',
      `${name} has ended, and is kept by ${finalizers.join(', ')} since ${deletionTimestamp}`,
    )
  }
  if (forceMs !== undefined && times.nowMs >= forceMs) {
    const refused = view.refusal === undefined ? '' : `; that was refused: ${view.refusal.message}`
    const message = `${name} has not ended within its grace period, which was over at ${deletionTimestamp}, and is removed${refused}`
    return force(view, 'PodRemoved', message, { graceSeconds: 0 })
  }
  if (!node.ready) {
    return late('PodStuck', `${name} should have gone by ${deletionTimestamp}, but ${node.name} is not Ready`)
  }
  return late('PodTerminating', `${name} is shutting down and should have gone by ${deletionTimestamp}`)
}

/** First it is told, then it is done. */
function force({ recorded }: PodView, code: ReasonCode, message: string, grace: Grace): PodJudgement {
  const told = { state: 'Forced', reason: { code, message } } as const
  return recorded === code ? { action: 'force', ...told, ...grace } : { action: 'wait', ...told }
}

function blocked(code: ReasonCode, message: string): Wait {
  return { action: 'wait', state: 'Blocked', reason: { code, message } }
}

function gracePart(graceSeconds: number | undefined): Grace {
  return graceSeconds === undefined ? {} : { graceSeconds }
}

/** The API server lets these go at no charge: not healthy, where the budget says so or has enough without. */
function evictsFreely(pod: Pod, budget: PodDisruptionBudget): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  if (ready) return false
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}
