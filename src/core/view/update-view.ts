// One update as its page shows it: past, present and what is to be expected.

import type { RunView, UpdateView, WaveView } from '../../api/console.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import { personWhoAsked } from '../audit/asked-by.ts'
import { conditionOf, refusal } from '../update/outcome.ts'
import { presentID } from '../update/path-step.ts'
import { targetText } from '../update/target-text.ts'
import { backupsOf } from './backup-view.ts'
import type { ForecastSpan } from './forecast.ts'
import { instant, isOver, leastOf, mostOf } from './instants.ts'
import { lookAhead, type UpdateFacts } from './look-ahead.ts'
import type { RosterWave, UpdateRoster } from './update-roster.ts'

export function updateView(facts: UpdateFacts): UpdateView {
  const { update, roster } = facts
  const { metadata, spec, status = {} } = update
  const reason = reasonOf(update)
  const waves = roster.waves()
  const askedBy = personWhoAsked(update)
  const ahead = roster.isEnded ? undefined : lookAhead(facts, waves)
  return {
    name: metadata.name,
    phase: metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Deleting',
    desiredState: spec.desiredState ?? 'Running',
    ...(status.operationID !== undefined && { operationID: status.operationID }),
    startedAt: status.startedAt ?? metadata.creationTimestamp,
    ...(status.finishedAt !== undefined && { finishedAt: status.finishedAt }),
    ...(askedBy !== undefined && { askedBy }),
    ...(status.path && { from: status.path.current }),
    target: targetText(update),
    steps: stepsOf(update),
    counts: countsOf(update, roster),
    failuresAllowed: roster.strategy.maxFailures,
    ...(ahead?.endsAt && { endsAt: ahead.endsAt }),
    waves: waves.map((wave, at) => waveView(facts, waves, at, ahead?.spans.get(wave))),
    backups: backupsOf(update),
    preflight: (status.preflight ?? []).map(({ check, result, message }) => ({ check, result, message })),
    warnings: status.warnings ?? [],
    ...(reason && { reason }),
    history: runsOf(update),
  }
}

function countsOf({ status }: DirectUpdate, roster: UpdateRoster): UpdateView['counts'] {
  // A later update takes the NodeStates over; what an ended one came to stands in its own summary.
  if (roster.isEnded && status?.summary) return status.summary
  const counts = { total: 0, done: 0, working: 0, waiting: 0, failed: 0, skipped: 0 }
  for (const { standing } of roster.members) {
    counts.total++
    counts[standing === 'attention' ? 'working' : standing]++
  }
  return counts.total === 0 ? (status?.summary ?? counts) : counts
}

function stepsOf({ status, spec }: DirectUpdate): UpdateView['steps'] {
  const { path, phase } = status ?? {}
  if (!spec.kubernetes) return []
  const versions = path?.steps ?? [path?.target ?? spec.kubernetes.version]
  const present = path?.step ?? 0
  const isDone = phase === 'Succeeded'
  return versions.map((version, at) => ({
    version,
    state: isDone || at < present ? 'Done' : at === present && status?.startedAt !== undefined ? 'Running' : 'Waiting',
  }))
}

function reasonOf(update: DirectUpdate): Reason | undefined {
  const refused = refusal(update)
  if (refused) return { code: refused.code as Reason['code'], message: refused.message, since: refused.since }
  for (const type of ['Failed', 'Stalled', 'Blocked']) {
    const condition = conditionOf(update, type)
    if (condition?.status !== 'True') continue
    const { reason, message, lastTransitionTime: since } = condition
    return { code: reason as Reason['code'], message, since }
  }
  return undefined
}

function waveView(
  { update, roster }: UpdateFacts,
  waves: readonly RosterWave[],
  at: number,
  ahead: ForecastSpan | undefined,
): WaveView {
  const wave = waves[at] as RosterWave
  const { role, index, members } = wave
  const { wave: present } = update.status ?? {}
  const isPresent = role === 'Worker' && present?.index === index
  const isPast = members.every(isOver)
  const startedMs = leastOf(members.map(({ startedMs, finishedMs }) => startedMs ?? finishedMs))
  const finishedMs = isPast ? mostOf(members.map(({ finishedMs: ended }) => ended)) : undefined
  const planned = roster.strategy.waves[index]
  const approval = planned?.promotion === 'Manual' && role === 'Worker' ? approvalOf(update, index) : undefined
  const isSoaking = isPresent && present.soakUntil !== undefined
  return {
    title: titleOf(role, index, waves),
    nodes: members.length,
    done: members.filter(({ standing }) => standing === 'done').length,
    failed: members.filter(({ standing }) => standing === 'failed').length,
    ...(startedMs !== undefined && { startedAt: instant(startedMs) }),
    ...(finishedMs !== undefined && { finishedAt: instant(finishedMs) }),
    ...(isSoaking && { soakUntil: present.soakUntil as string }),
    ...(approval && { approval }),
    ...(ahead && { predicted: { startsAt: instant(ahead.startMs), endsAt: instant(ahead.endMs) } }),
  }
}

function titleOf(role: RosterWave['role'], index: number, waves: readonly RosterWave[]): string {
  if (role === 'ControlPlane') return 'control plane'
  const workers = waves.filter((wave) => wave.role === 'Worker').length
  return workers === 1 ? 'workers' : `wave ${index + 1}`
}

function approvalOf({ spec, status }: DirectUpdate, index: number): WaveView['approval'] {
  const operationID = presentID(status ?? {})
  const given = spec.approvals?.find((approval) => approval.operationID === operationID && approval.wave === index)
  const asked = status?.wave?.index === index && status.wave.promotion === 'Wanted' && !given
  return { asked, ...(given && { by: given.by, at: given.at }) }
}

export function runsOf(update: DirectUpdate): readonly RunView[] {
  const { metadata, spec, status } = update
  const by = personWhoAsked(update)
  const asked = by === undefined ? {} : { askedBy: by }
  const target = targetText({ spec, ...(status && { status }) })
  const { operationID, startedAt, finishedAt, phase, summary, history = [] } = status ?? {}
  const earlier = history.filter((run) => run.operationID !== operationID)
  const present: readonly RunView[] =
    operationID === undefined || startedAt === undefined
      ? []
      : [
          {
            ...{ update: metadata.name, operationID, target, phase: phase ?? 'Pending', startedAt },
            ...(finishedAt !== undefined && { finishedAt }),
            ...asked,
            ...(summary && { nodes: summary.total - summary.skipped, failed: summary.failed }),
          },
        ]
  return [
    ...present,
    ...earlier.toReversed().map((run) => ({
      ...{ update: metadata.name, operationID: run.operationID, target, phase: run.phase },
      ...{ startedAt: run.startedAt, finishedAt: run.finishedAt, ...asked },
    })),
  ]
}
