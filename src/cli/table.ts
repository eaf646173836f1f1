// Columns for people: as wide as their content, two spaces between; on a narrow terminal some are left out, and the last is cut.

import type { Terminal } from './dependencies.ts'
import { printable } from './printable.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  /** It goes where a window is too narrow for the last column, the lowest first. */
  readonly spare?: number
}

/** So much of the last column, which says why, is worth more than a spare one. */
const lastAtLeast = 40

export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const whole = columns.map((column) => {
    const cells = [column.title, ...rows.map((row) => harmless(column.value(row)))]
    return { cells, spare: column.spare, width: cells.reduce((most, cell) => Math.max(most, cell.length), 0) }
  })
  const shown = fitting(whole, width)
  return [columns, ...rows].map((_, row) => {
    const line = shown
      .map(({ cells, width: own }, index) => (index === shown.length - 1 ? cells[row] : cells[row]?.padEnd(own)))
      .join('  ')
    return cut(line.trimEnd(), width)
  })
}

interface Fitted {
  readonly cells: readonly string[]
  readonly spare: number | undefined
  readonly width: number
}

function fitting(columns: readonly Fitted[], width: number): readonly Fitted[] {
  const needs = columns.reduce(
    (sum, column, index) => sum + (index < columns.length - 1 ? column.width + 2 : Math.min(column.width, lastAtLeast)),
    0,
  )
  const [first] = columns.filter(({ spare }) => spare !== undefined).toSorted((a, b) => (a.spare ?? 0) - (b.spare ?? 0))
  return needs <= width || !first
    ? columns
    : fitting(
        columns.filter((column) => column !== first),
        width,
      )
}

/** A name or message may hold anything: it makes no line of its own, and what would move the cursor is shown. */
export function harmless(text: string): string {
  return printable(text).replaceAll(/\s*[\n\t]\s*/g, ' ')
}

export function cut(text: string, width: number): string {
  if (text.length <= width) return text
  return width <= 1 ? text.slice(0, Math.max(0, width)) : `${text.slice(0, width - 1)}…`
}

/** A pipe gets whole lines, a window what fits. */
export function widthOf(terminal: Terminal): number {
  return terminal.isTTY ? Math.max(20, terminal.columns) : Number.POSITIVE_INFINITY
}

export function writeLines(terminal: Terminal, lines: readonly string[]): void {
  for (const line of lines) terminal.write(`${line}\n`)
}

/** The first few names, and how many more there are. */
export function fewNames(names: readonly string[], shown = 3): string {
  const first = names.slice(0, shown).join(', ')
  return names.length > shown ? `${first} and ${names.length - shown} more` : first
}
