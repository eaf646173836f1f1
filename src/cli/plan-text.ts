// A plan as a person reads it: first whether it goes through, then in which order, then what is in its way.

import type { PlannedBlocker, PlannedWave, PlanReport } from '../core/plan/plan-report.ts'
import { fewNames } from './table.ts'
import { spanText } from './time-text.ts'

const shownNodes = 12
const shownBlockers = 20

export function planText(report: PlanReport): string {
  const { blockers, unplaced, waves, assumptions } = report
  const lines = [
    `${report.update}: ${verdictText(report)}`,
    ...(report.nodes === 0
      ? []
      : [`  ${report.nodes} nodes, about ${durationText(report)}; rehearsed ${times(report.rehearsals)}`]),
    ...waves.map((wave, index) => `  ${index + 1}. ${wave.title} (${wave.nodes.length}): ${orderText(wave)}`),
    ...(blockers.length === 0 ? [] : ['in its way:']),
    ...blockers.slice(0, shownBlockers).flatMap(blockerLines),
    ...(blockers.length > shownBlockers ? [`  … and ${blockers.length - shownBlockers} more`] : []),
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

function durationText({ durationSeconds: { least, expected, most } }: PlanReport): string {
  const span = (seconds: number) => spanText(seconds * 1000)
  return least === most ? span(expected) : `${span(expected)} (${span(least)} to ${span(most)})`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** A place that is left to chance carries a question mark. */
function orderText({ nodes }: PlannedWave): string {
  return fewNames(
    nodes.map(({ name, certain }) => (certain ? name : `${name}?`)),
    shownNodes,
  )
}

function blockerLines({ certainty, code, cause, message, nodes }: PlannedBlocker): readonly string[] {
  const where = nodes.length === 0 ? '' : ` on ${fewNames(nodes, 5)}`
  return [`  ${certainty.padEnd(8)}  ${code}${cause === '' ? '' : ` ${cause}`}${where}`, `            ${message}`]
}
