// The rest of an update as it is to be expected: each open wave, and the end of all.

import type { UpdateView } from '../../api/console.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { resolveCount } from '../count.ts'
import { parseDuration } from '../duration.ts'
import { Calendar } from '../time/calendar.ts'
import { allOf, type Opening } from '../time/spans.ts'
import { type ForecastSpan, type ForecastWave, forecast, nodeTime } from './forecast.ts'
import { instant, isOver, leastOf } from './instants.ts'
import type { RosterWave, UpdateRoster } from './update-roster.ts'

export interface UpdateFacts {
  readonly update: DirectUpdate
  readonly roster: UpdateRoster
  readonly policy: MaintenancePolicySpec | undefined
  readonly now: Date
}

export interface Ahead {
  readonly spans: ReadonlyMap<RosterWave, ForecastSpan>
  readonly endsAt: UpdateView['endsAt']
}

/** Before a node was measured, and where the planner says nothing. */
const assumedMs = 5 * 60_000

export function lookAhead(facts: UpdateFacts, all: readonly RosterWave[]): Ahead {
  const { roster, now } = facts
  const open = all.filter(({ members }) => !members.every(isOver))
  const nowMs = now.getTime()
  const workers = open.flatMap(({ role, members }) => (role === 'Worker' ? members : [])).length
  const atOnce = Math.max(1, atOnceOf(facts))
  const waves = open.map((wave) => forecastWave(facts, wave, wave.role === 'Worker' ? atOnce : 1))
  const times = nodeTime(measured(roster), assumedFor(facts, workers, atOnce))
  const opening = openingOf(facts)
  const ends = (oneMs: number) => forecast(waves, oneMs, nowMs, opening)
  const likely = ends(times.likely)
  const lastOf = (spans: readonly ForecastSpan[]) => instant(spans.at(-1)?.endMs ?? nowMs)
  return {
    spans: new Map(open.map((wave, at) => [wave, likely[at] as ForecastSpan])),
    endsAt:
      open.length === 0
        ? undefined
        : { earliest: lastOf(ends(times.least)), likely: lastOf(likely), latest: lastOf(ends(times.most)) },
  }
}

function forecastWave({ update, roster, now }: UpdateFacts, wave: RosterWave, atOnce: number): ForecastWave {
  const working = wave.members.filter(({ standing }) => standing === 'working')
  const began = leastOf(working.map(({ startedMs }) => startedMs))
  const { wave: present } = update.status ?? {}
  const soak = wave.role === 'Worker' ? roster.strategy.waves[wave.index]?.soak : undefined
  const soakUntil = present?.index === wave.index && wave.role === 'Worker' ? present.soakUntil : undefined
  const leftMs = soakUntil === undefined ? undefined : Math.max(0, Date.parse(soakUntil) - now.getTime())
  return {
    left: wave.members.filter((member) => !isOver(member)).length,
    working: working.length,
    elapsedMs: began === undefined ? 0 : Math.max(0, now.getTime() - began),
    atOnce,
    soakMs: leftMs ?? (soak === undefined ? 0 : parseDuration(soak)),
  }
}

function measured(roster: UpdateRoster): readonly number[] {
  const took: number[] = []
  for (const { standing, startedMs, finishedMs } of roster.members) {
    if (standing === 'done' && startedMs !== undefined && finishedMs !== undefined) took.push(finishedMs - startedMs)
  }
  return took
}

function assumedFor({ update, roster }: UpdateFacts, workers: number, atOnce: number): number {
  const { duration } = update.status?.preview ?? {}
  if (duration === undefined) return assumedMs
  const soakMs = roster.strategy.waves.reduce(
    (sum, { soak }) => sum + (soak === undefined ? 0 : parseDuration(soak)),
    0,
  )
  let controlPlane = 0
  for (const { role, standing } of roster.members) if (role === 'ControlPlane' && standing !== 'skipped') controlPlane++
  const rounds = controlPlane + Math.ceil(workers / atOnce)
  return rounds === 0 ? assumedMs : Math.max(1000, (parseDuration(duration) - soakMs) / rounds)
}

/** By its strategy and by the budgets for the whole cluster; of others it cannot be told how they will fall. */
function atOnceOf({ roster, policy }: UpdateFacts): number {
  let workers = 0
  for (const { role, standing } of roster.members) if (role === 'Worker' && standing !== 'skipped') workers++
  const whole = (policy?.budgets ?? []).filter(
    ({ per, nodeSelector }) => per === undefined && nodeSelector === undefined,
  )
  const limits = whole.map(({ maxUnavailable }) => resolveCount(maxUnavailable, workers))
  return Math.min(resolveCount(roster.strategy.maxUnavailable, workers), ...limits)
}

function openingOf({ update, policy }: UpdateFacts): Opening {
  const { windows, runNow } = update.spec
  if (runNow !== undefined && runNow.operationID === update.status?.operationID) return allOf([])
  const calendars = [new Calendar({ windows: policy?.windows, freezes: policy?.freezes }), new Calendar({ windows })]
  return allOf(calendars.map((calendar) => calendar.openingFor('Update')))
}
