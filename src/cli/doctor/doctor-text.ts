import type { Examination } from '../../core/doctor/examine.ts'
import type { Finding, Result } from '../../core/doctor/finding.ts'
import type { Terminal } from '../dependencies.ts'
import { type Colour, coloured } from '../paint.ts'
import { harmless } from '../table.ts'

const words: Readonly<Record<Result, { readonly word: string; readonly colour: Colour }>> = {
  Ok: { word: 'ok', colour: 'green' },
  Warning: { word: 'warning', colour: 'yellow' },
  Problem: { word: 'problem', colour: 'red' },
  Unknown: { word: 'unknown', colour: 'yellow' },
}

/** Each finding in one line, and what to do below it; `quiet` leaves out what is fine. */
export function examinationLines(
  { findings, summary }: Examination,
  terminal: Pick<Terminal, 'color'>,
  quiet: boolean,
): readonly string[] {
  const shown = quiet ? findings.filter(({ result }) => result !== 'Ok') : findings
  const width = Math.max(0, ...shown.map(({ check }) => check.length))
  const { ok, warnings, problems, unknown } = summary
  const parts = [
    count(problems, 'problem'),
    count(warnings, 'warning'),
    ...(unknown > 0 ? [`${unknown} could not be looked at`] : []),
    `${ok} fine`,
  ]
  return [
    ...shown.flatMap((finding) => findingLines(finding, width, terminal)),
    ...(quiet ? [] : ['', parts.join(', ')]),
  ]
}

function findingLines(
  { check, result, code, message, nextStep }: Finding,
  width: number,
  { color }: Pick<Terminal, 'color'>,
): readonly string[] {
  const { word, colour } = words[result]
  const said = result === 'Ok' || code === check ? message : `${code}: ${message}`
  const head = `${coloured(word.padEnd(7), colour, color)}  ${check.padEnd(width)}  ${harmless(said)}`
  return nextStep === undefined ? [head] : [head, `${' '.repeat(width + 11)}next: ${harmless(nextStep)}`]
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
