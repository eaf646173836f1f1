// A node that is being emptied: what is told of it, and what happens when it takes longer than it may.

import type { Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { firstReason } from '../drain/in-good-order.ts'
import type { Operation } from '../update/operation.ts'
import { enter, isPast, watchDeadline } from './enter-phase.ts'
import { isCordoned } from './node-facts.ts'
import type { DrainReport, NodeAction, NodeView } from './node-view.ts'
import { earlierFailure, isOutdated, makeOrder, orderID } from './order.ts'

type Entry = DrainReport['blocked'][number]

const mostPods = 20
/** Why the pods are not known may be another reason by then. */
const unknownAgainMs = 15_000
const forcing = new Set<string | undefined>(['PodForced', 'PodRemoved'])
const volumesWait = new Set<string | undefined>(['VolumesAttached', 'VolumesStuck'])

/** Given up before any work began: the node is put back, and counts as failed until somebody tries again. */
export function isAborted({ phase, reason }: Rollout): boolean {
  return phase === 'Failed' && reason?.code === 'DrainAborted'
}

export function drainNode(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  const { node, drain } = view
  if (operation.disruption === 'None') {
    return { action: 'setOrder', order: makeOrder(view, operation, rollout.attempt) }
  }
  if (view.heldOver) return holdOver(view, rollout, view.heldOver)
  if (rollout.deadline === undefined) {
    return enter(view, rollout, 'Draining', { deadlineMs: operation.drain.timeoutMs, reason: firstReason(operation) })
  }
  if (!isCordoned(node)) return { action: 'cordon' }
  if (!drain && view.podsUnknown === undefined) return { action: 'watchPods' }
  if (drain?.left === 0 && (drain.volumes ?? []).length === 0) {
    const { order } = view.state.spec
    if (order?.id === orderID(operation, rollout.attempt) && isOutdated(order, view.work)) {
      return { action: 'setRollout', rollout: { ...rollout, attempt: rollout.attempt + 1 } }
    }
    return { action: 'setOrder', order: makeOrder(view, operation, rollout.attempt) }
  }
  const late = isPast(rollout.deadline, view)
  const obstacle = obstacleOf(view, operation, rollout, late)
  if (late && operation.drain.onTimeout === 'Abort') {
    return enter(view, rollout, 'Failed', { reason: abortReason(view, operation, obstacle.message) })
  }
  return tell(view, rollout, drain, obstacle) ?? waitOn(view, rollout, obstacle)
}

function obstacleOf(view: NodeView, operation: Operation, rollout: Rollout, late: boolean): Reason {
  const { drain, podsUnknown = '' } = view
  if (!drain) return { code: late ? 'DrainTimedOut' : 'PodsUnknown', message: podsUnknown }
  return drain.left === 0 ? volumesReason(view, operation, rollout, drain.volumes ?? []) : podsReason(drain, late)
}

/** A node that failed before is not fit because it cannot be drained again: it stays away for what was wrong with it. */
function abortReason({ state }: NodeView, operation: Operation, heldUp: string): Reason {
  const failure = earlierFailure(state, operation)
  if (!failure) return { code: 'DrainAborted', message: cut(`given up and put back; it was held up: ${heldUp}`) }
  return { code: failure.code, message: cut(`${failure.message}; tried again, but its drain was given up: ${heldUp}`) }
}

/** Left as it is until the next window; the time it may take begins anew then. */
function holdOver({ now }: NodeView, { deadline, ...rollout }: Rollout, reason: Reason): NodeAction {
  // The next window may be another since it was told.
  const isTold = deadline === undefined && rollout.reason?.message === reason.message
  if (!isTold) return { action: 'setRollout', rollout: { ...rollout, reason: { ...reason, since: now.toISOString() } } }
  const nextMs = Date.parse(reason.nextCheck ?? '')
  return { action: 'wait', ...(nextMs > now.getTime() && { untilMs: nextMs }) }
}

/** Writes what changed; a pod that is to be forced must be on record at once, the rest only if it lasts. */
function tell(
  { now }: NodeView,
  rollout: Rollout,
  drain: DrainReport | undefined,
  obstacle: Reason,
): NodeAction | undefined {
  const before = rollout.drain?.pods ?? []
  const at = now.toISOString()
  const pods = shown(drain?.blocked ?? []).map(({ pod, state, reason }): Entry => {
    const known = before.find((entry) => entry.pod === pod && entry.reason.code === reason.code)
    // Whoever refuses an eviction may say a lot.
    return { pod, state, reason: { ...reason, message: cut(reason.message), since: known?.reason.since ?? at } }
  })
  const { reason } = rollout
  const isTold = reason?.code === obstacle.code && reason.message === cut(obstacle.message)
  if (isTold && sameBlockers(pods, before)) return undefined
  const isUrgent = pods.some((entry) => forcing.has(entry.reason.code) && !before.some((old) => isSame(old, entry)))
  const [first] = pods
  const known = first?.reason.code === obstacle.code ? first.reason : reason
  const since = obstacle.since ?? (known?.code === obstacle.code ? known.since : undefined) ?? at
  return {
    action: 'setRollout',
    ...(!isUrgent && { unhurried: true }),
    rollout: {
      ...rollout,
      ...(drain && { drain: { total: drain.total, left: drain.left, pods } }),
      reason: { ...obstacle, message: cut(obstacle.message), since },
    },
  }
}

function waitOn(view: NodeView, rollout: Rollout, obstacle: Reason): NodeAction {
  const waiting = watchDeadline(view, rollout)
  const nextMs = view.drain ? Date.parse(obstacle.nextCheck ?? '') : view.now.getTime() + unknownAgainMs
  if (waiting.action !== 'wait' || Number.isNaN(nextMs) || nextMs <= view.now.getTime()) return waiting
  return { action: 'wait', untilMs: Math.min(nextMs, waiting.untilMs ?? nextMs) }
}

function podsReason({ blocked, going = [], left, total }: DrainReport, late: boolean): Reason {
  const [first] = shown(blocked)
  if (first) {
    const message = `${first.reason.message}${others(blocked.length - 1)}`
    return late && !forcing.has(first.reason.code) ? { code: 'DrainTimedOut', message } : { ...first.reason, message }
  }
  const [next] = going
  const words = next === undefined ? undefined : `${next}${others(going.length - 1)}`
  if (!late) return words === undefined ? firstReason({ disruption: 'Drain' }) : { code: 'PodEvicting', message: words }
  return { code: 'DrainTimedOut', message: `${left} of ${total} pods left${words === undefined ? '' : `: ${words}`}` }
}

/** The time it may take runs from when it was first told, so that a restart does not begin it anew. */
function volumesReason(
  { node, now, graceUntil }: NodeView,
  { drain }: Operation,
  { reason }: Rollout,
  volumes: NonNullable<DrainReport['volumes']>,
): Reason {
  const since = volumesWait.has(reason?.code) ? (reason?.since ?? now.toISOString()) : now.toISOString()
  const lateMs = Math.max(Date.parse(since) + drain.volumeTimeoutMs, graceUntil.getTime())
  const [first] = volumes
  const message = `volume ${first?.volume} is still attached to ${node.metadata.name} (VolumeAttachment ${first?.attachment})${others(volumes.length - 1)}`
  return now.getTime() >= lateMs
    ? { code: 'VolumesStuck', message, since }
    : { code: 'VolumesAttached', message, since, nextCheck: new Date(lateMs).toISOString() }
}

/** Those that are forced come first: what is done by force is never among those that are only counted. */
function shown(blocked: readonly Entry[]): readonly Entry[] {
  const rank = ({ state }: Entry) => (state === 'Forced' ? 0 : 1)
  return blocked.toSorted((a, b) => rank(a) - rank(b)).slice(0, mostPods)
}

/** As much of a sentence as a reason holds. */
function cut<T extends string | undefined>(message: T): T {
  return message?.slice(0, 4000) as T
}

function others(count: number): string {
  return count > 0 ? `; and ${count} more` : ''
}

function sameBlockers(a: readonly Entry[], b: readonly Entry[]): boolean {
  return (
    a.length === b.length &&
    a.every((entry, i) => {
      const other = b[i]
      return other !== undefined && isSame(entry, other) && entry.reason.message === other.reason.message
    })
  )
}

function isSame(a: Entry, b: Entry): boolean {
  return a.pod === b.pod && a.state === b.state && a.reason.code === b.reason.code
}
