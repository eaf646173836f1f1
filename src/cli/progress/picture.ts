// The live picture: a view as lines that fit a window of the given size, most urgent things first.

import type { NodePhase } from '../../api/node-state.ts'
import { type Colour, coloured } from '../paint.ts'
import { cut, fewNames } from '../table.ts'
import { spanText } from '../time-text.ts'
import {
  type Counts,
  type NodeProgress,
  type ProgressView,
  type Standing,
  standingOf,
  urgency,
  type WaveProgress,
} from './view.ts'

export interface Frame {
  readonly columns: number
  readonly rows: number
  readonly color: boolean
}

const glyphs: Readonly<Record<NodePhase, string>> = {
  Pending: '·',
  Staging: '◌',
  Draining: '◔',
  Assigned: '◑',
  Working: '◑',
  Verifying: '◕',
  Done: '●',
  Failed: '✗',
  RequiresAttention: '!',
}

/** Plain text and how it is painted; cut by what is seen, painted afterwards. */
interface Piece {
  readonly text: string
  readonly colour?: Colour | undefined
}

export function pictureLines(view: ProgressView, frame: Frame): readonly string[] {
  const width = Math.max(20, frame.columns)
  const height = Math.max(6, frame.rows - 1)
  const head = headLines(view, width)
  const underWork = view.waves.flatMap((wave) => wave.nodes.filter(isShown))
  const waiting = waitingLines(view)
  // Half of the window for the overview of all nodes; what it does not need goes to the nodes under work.
  const waves = waveLines(view.waves, width, Math.floor(height / 2))
  const room = Math.max(1, height - head.length - waves.length - waiting.length)
  const body = underWorkLines(underWork, view, room)
  return [...head, ...waves, ...body, ...waiting]
    .slice(0, height)
    .map((line) => painted(fitted(line, width), frame.color))
}

/** One line that says how it stands; also the last line of plain output. */
export function countsText(counts: Counts): string {
  const parts = [`${counts.done}/${counts.total} done`]
  if (counts.working > 0) parts.push(`${counts.working} under work`)
  if (counts.attention > 0) parts.push(`${counts.attention} of them in need of a person`)
  if (counts.waiting > 0) parts.push(`${counts.waiting} waiting`)
  if (counts.failed > 0) parts.push(`${counts.failed} failed`)
  if (counts.skipped > 0) parts.push(`${counts.skipped} skipped`)
  return parts.join(', ')
}

export function elapsedMs(view: ProgressView): number {
  const from = view.startedAt === undefined ? view.now.getTime() : Date.parse(view.startedAt)
  const to = view.finishedAt === undefined ? view.now.getTime() : Date.parse(view.finishedAt)
  return Math.max(0, to - from)
}

function headLines(view: ProgressView, width: number): readonly (readonly Piece[])[] {
  const path = view.current && view.current !== view.target ? `${view.current} → ${view.target}` : view.target
  const title: Piece[] = [
    { text: view.name, colour: 'bold' },
    { text: '  ' },
    { text: view.phase, colour: phaseColour(view) },
    { text: `  ${path}  ${spanText(elapsedMs(view))}` },
  ]
  const lines: (readonly Piece[])[] = [title, barPieces(view.counts, width)]
  if (view.paused) lines.push([{ text: 'MaintenancePolicy/default is paused: nothing new starts', colour: 'yellow' }])
  if (view.course !== undefined) lines.push([{ text: view.course, colour: 'yellow' }])
  if (view.refusal) lines.push([{ text: `${view.refusal.code}: ${view.refusal.message}`, colour: 'red' }])
  return lines
}

function barPieces(counts: Counts, width: number): readonly Piece[] {
  const text = `  ${countsText(counts)}`
  const cells = Math.min(40, Math.max(5, width - text.length - 2))
  const share = (count: number) => (counts.total === 0 ? 0 : Math.floor((count * cells) / counts.total))
  const done = share(counts.done + counts.skipped)
  const failed = counts.failed === 0 ? 0 : Math.max(1, share(counts.failed))
  const working = counts.working === 0 ? 0 : Math.min(Math.max(1, share(counts.working)), cells - done - failed)
  const rest = Math.max(0, cells - done - failed - working)
  return [
    { text: '█'.repeat(done), colour: 'green' },
    { text: '▓'.repeat(failed), colour: 'red' },
    { text: '▒'.repeat(Math.max(0, working)), colour: 'yellow' },
    { text: '░'.repeat(rest), colour: 'dim' },
    { text },
  ]
}

function waveLines(waves: readonly WaveProgress[], width: number, room: number): readonly (readonly Piece[])[] {
  const titleWidth = waves.reduce((max, wave) => Math.max(max, wave.title.length), 0) + 2
  const perLine = Math.max(8, width - titleWidth)
  const needed = waves.reduce((sum, wave) => sum + Math.ceil(wave.nodes.length / perLine), 0)
  return waves.flatMap((wave) => {
    const title: Piece = { text: wave.title.padEnd(titleWidth) }
    if (needed > room) return [[title, { text: phaseTotals(wave.nodes) }]]
    const rows: Piece[][] = []
    for (let at = 0; at < wave.nodes.length; at += perLine) {
      const cells = wave.nodes
        .slice(at, at + perLine)
        .map(({ phase }) => ({ text: glyphs[phase], colour: nodeColour(phase) }))
      rows.push([at === 0 ? title : { text: ' '.repeat(titleWidth) }, ...cells])
    }
    return rows
  })
}

/** `●312 ◔5 ·183`: where there are more nodes than places. */
function phaseTotals(nodes: readonly NodeProgress[]): string {
  const totals = new Map<string, number>()
  for (const { phase } of nodes) totals.set(glyphs[phase], (totals.get(glyphs[phase]) ?? 0) + 1)
  return [...totals].map(([glyph, count]) => `${glyph}${count}`).join(' ')
}

function isShown(node: NodeProgress): boolean {
  return urgency[standingOf(node.phase)] <= urgency.working
}

function underWorkLines(
  nodes: readonly NodeProgress[],
  view: ProgressView,
  room: number,
): readonly (readonly Piece[])[] {
  const sorted = [...nodes].sort((a, b) => urgency[standingOf(a.phase)] - urgency[standingOf(b.phase)])
  const shown = sorted.length <= room ? sorted : sorted.slice(0, Math.max(0, room - 1))
  const nameWidth = shown.reduce((max, node) => Math.max(max, node.name.length), 0)
  const phaseWidth = shown.reduce((max, node) => Math.max(max, node.phase.length), 0)
  const lines: (readonly Piece[])[] = shown.map((node) => [
    { text: `  ${glyphs[node.phase]} `, colour: nodeColour(node.phase) },
    {
      text: `${node.name.padEnd(nameWidth)}  ${node.phase.padEnd(phaseWidth)}  ${sinceText(node, view.now).padStart(5)}  `,
    },
    { text: detailText(node), colour: nodeColour(node.phase) === 'red' ? 'red' : undefined },
  ])
  const hidden = sorted.length - shown.length
  return hidden > 0 ? [...lines, [{ text: `  … and ${hidden} more under work`, colour: 'dim' }]] : lines
}

function sinceText(node: NodeProgress, now: Date): string {
  return node.since === undefined ? '' : spanText(now.getTime() - Date.parse(node.since))
}

/** What holds the node, or what it is doing. */
export function detailText(node: NodeProgress): string {
  const pods =
    node.phase === 'Draining' && node.drain ? `${node.drain.left} of ${node.drain.total} pods left` : undefined
  const parts = [node.step, pods, node.reason?.message]
  return parts.filter((part) => part !== undefined).join('; ')
}

function waitingLines(view: ProgressView): readonly (readonly Piece[])[] {
  return view.waits
    .filter((wait) => wait.phase === 'Pending')
    .slice(0, 3)
    .map((wait) => [{ text: `  · ${fewNames(wait.nodes)}: ${wait.reason.message}`, colour: 'dim' }])
}

function phaseColour(view: ProgressView): Colour {
  switch (view.phase) {
    case 'Succeeded':
      return 'green'
    case 'Failed':
    case 'RequiresAttention':
      return 'red'
    default:
      return view.refusal ? 'red' : 'cyan'
  }
}

const standingColours: Readonly<Record<Standing, Colour>> = {
  done: 'green',
  failed: 'red',
  attention: 'red',
  working: 'yellow',
  waiting: 'dim',
  skipped: 'dim',
}

function nodeColour(phase: NodePhase): Colour {
  return standingColours[standingOf(phase)]
}

function fitted(pieces: readonly Piece[], width: number): readonly Piece[] {
  const fitting: Piece[] = []
  let left = width
  for (const [index, piece] of pieces.entries()) {
    const more = pieces.slice(index + 1).some(({ text }) => text !== '')
    const text =
      piece.text.length > left || (piece.text.length === left && more) ? cut(`${piece.text} `, left) : piece.text
    fitting.push({ ...piece, text })
    left -= text.length
    if (left <= 0) break
  }
  return fitting
}

function painted(pieces: readonly Piece[], color: boolean): string {
  const line = pieces.map(({ text, colour }) => coloured(text, colour, color))
  return line.join('').trimEnd()
}
