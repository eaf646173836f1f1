// Columns for people: as wide as their content, two spaces between; on a terminal the last one is cut at the edge.

import type { Terminal } from './dependencies.ts'
import { printable } from './printable.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
}

export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => harmless(column.value(row)))),
  ]
  const widths = columns.map((_, index) => cells.reduce((max, row) => Math.max(max, row[index]?.length ?? 0), 0))
  return cells.map((row) => {
    const line = row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
    return cut(line.trimEnd(), width)
  })
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
