// A plan as a person reads it: first whether it goes through, then in which order, then what is in its way.

import type { VersionSource } from '../api/version-path.ts'
import type { PlannedBlocker, PlannedWave, PlanReport } from '../core/plan/plan-report.ts'
import { stepText } from '../core/update/path-step.ts'
import { fewNames } from './table.ts'
import { spanText } from './time-text.ts'
import { adviceFor } from './why/finding.ts'

const shownNodes = 12
const shownBlockers = 20
const shownSittings = 8
/** Of a wave of thousands nobody reads more. */
const listedNodes = 100

/** The same with the first nodes of each wave and of each obstacle only; `total` says how many there are. */
export function shortPlan(report: PlanReport): PlanReport {
  const { waves, blockers } = report
  return {
    ...report,
    waves: waves.map((wave) => ({ ...wave, nodes: wave.nodes.slice(0, listedNodes) })),
    blockers: blockers.map((blocker) => ({ ...blocker, nodes: blocker.nodes.slice(0, listedNodes) })),
  }
}

export function planText(report: PlanReport, isWhole: boolean): string {
  const { blockers, unplaced, waves, warnings, assumptions } = report
  const lines = [
    `${report.update}: ${verdictText(report)}`,
    ...(report.nodes === 0 ? [] : [`  ${report.nodes} nodes, about ${durationText(report)}; ${rehearsedText(report)}`]),
    ...pathLines(report),
    ...scheduleLines(report),
    ...waves.map((wave, index) => `  ${index + 1}. ${wave.title} (${wave.total}): ${orderText(wave, isWhole)}`),
    ...(waves.some(({ nodes }) => nodes.some(({ certain }) => !certain)) ? ['  ?: its place is left to chance'] : []),
    ...(blockers.length === 0 ? [] : ['in its way:']),
    ...blockers.slice(0, shownBlockers).flatMap(blockerLines),
    ...(blockers.length > shownBlockers ? [`  … and ${blockers.length - shownBlockers} more`] : []),
    ...(warnings.length === 0 || report.nodes === 0 ? [] : ['what will happen besides:', ...warnings.map(warningText)]),
    ...(unplaced.length === 0 ? [] : ['pods that find no node for a while:']),
    ...unplaced
      .slice(0, shownBlockers)
      .map(
        ({ certainty, workload, pods, message }) =>
          `  ${certainty.padEnd(8)}  ${workload}: ${pods} at most; ${message}`,
      ),
    ...(unplaced.length > shownBlockers ? [`  … and ${unplaced.length - shownBlockers} more`] : []),
    'what this rests on:',
    ...assumptions.map((sentence) => `  ${sentence}`),
  ]
  return `${lines.join('\n')}\n`
}

/** A version that was named and is one step away needs no words. */
function pathLines({ path }: PlanReport): readonly string[] {
  const { steps = [], workers = [], current, target, source } = path ?? {}
  if (steps.length < 2 && source === undefined) return []
  const known = source === undefined ? '' : `, known from ${sourceTexts[source]}`
  if (steps.length < 2) return [`  from ${current} to ${target}${known}`]
  const along = workers.map((step) => steps[step]).join(', ')
  return [
    `  from ${current} in ${steps.length} steps${known}; workers go to ${along}`,
    ...steps.map((version, index) => `    ${stepText({ index, of: steps.length, version })}`),
  ]
}

const sourceTexts: Readonly<Record<VersionSource, string>> = {
  Bundle: 'the bundle',
  Hosts: 'the hosts',
  Registry: 'the registry',
  ConfigMap: 'ConfigMap slipway-versions',
}

function verdictText({ verdict, blockers }: PlanReport): string {
  const certain = blockers.filter(({ certainty }) => certainty === 'certain').length
  switch (verdict) {
    case 'clear':
      return 'nothing is in its way'
    case 'possiblyBlocked':
      return `it may be held up: ${blockers.length} possible ${blockers.length === 1 ? 'obstacle' : 'obstacles'}`
    case 'blocked':
      return `it will be held up: ${certain} certain ${certain === 1 ? 'obstacle' : 'obstacles'}`
  }
}

/** The first windows and the last: of a rollout over months nobody reads more. */
function scheduleLines({ schedule, nodes }: PlanReport): readonly string[] {
  if (!schedule) return []
  const { starts, ends, sittings } = schedule
  const lines = sittings.map(({ from, closes, nodes: some, done }) => {
    const until = closes === undefined ? '' : `, open until ${instantText(closes)}`
    return `    ${instantText(from)}  ${some} nodes, ${done} of ${nodes} done${until}`
  })
  const left = lines.length - shownSittings - 1
  return [
    `  by its windows it starts ${instantText(starts)} and ends about ${instantText(ends)}:`,
    ...(left > 0 ? [...lines.slice(0, shownSittings), `    … ${left} windows more …`, ...lines.slice(-1)] : lines),
  ]
}

function instantText(instant: string): string {
  return instant.replace('T', ' ').replace(/:\d\dZ$/, ' UTC')
}

function durationText({ durationSeconds: { least, expected, most } }: PlanReport): string {
  const span = (seconds: number) => spanText(seconds * 1000)
  return least === most ? span(expected) : `${span(expected)} (${span(least)} to ${span(most)})`
}

function rehearsedText({ nodes, alike, rehearsals }: PlanReport): string {
  if (alike === 0) return `rehearsed ${times(rehearsals)}`
  return `${nodes - alike} of them rehearsed ${times(rehearsals)}, ${alike} taken as alike`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** A place that is left to chance carries a question mark. */
function orderText({ nodes, total }: PlannedWave, isWhole: boolean): string {
  const names = nodes.map(({ name, certain }) => (certain ? name : `${name}?`))
  if (isWhole || total <= 2 * shownNodes) return fewNames(names, isWhole ? total : shownNodes)
  return `${names.slice(0, shownNodes).join(', ')} … ${names.slice(-2).join(', ')}`
}

function blockerLines({ certainty, code, cause, message, nodes }: PlannedBlocker): readonly string[] {
  const where = nodes.length === 0 ? '' : ` on ${fewNames(nodes, 5)}`
  // A cause that begins with the same word says it once.
  const what = cause.startsWith(`${code} `) ? cause : `${code} ${cause}`.trim()
  const advice = adviceFor(code)
  return [
    `  ${certainty.padEnd(8)}  ${what}${where}`,
    `            ${message}`,
    ...(advice === undefined ? [] : [`            ${advice}`]),
  ]
}

function warningText({ code, message }: PlanReport['warnings'][number]): string {
  return `  ${code}: ${message}`
}
