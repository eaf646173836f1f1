// Plain lines for logs and pipes: one for each change of state, none for what only waits its turn.

import type { ReasonCode } from '../../api/reason.ts'
import type { Terminal } from '../dependencies.ts'
import { clockText, spanText } from '../time-text.ts'
import { countsText, detailText, elapsedMs } from './picture.ts'
import type { ProgressSink, RolloutSnapshot } from './sink.ts'
import { type NodeProgress, type ProgressView, progressView } from './view.ts'

/** Waiting for these is the normal course of a rollout; a line for each node of it would say nothing. */
const ownTurn: ReadonlySet<ReasonCode> = new Set([
  ...(['BudgetSpent', 'ControlPlaneBusy', 'WaveSoaking', 'ApprovalWanted'] as const),
  ...(['UpdatePaused', 'UpdateCancelled'] as const),
])

export class PlainProgress implements ProgressSink {
  readonly #terminal: Terminal
  #before: ProgressView | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(snapshot: RolloutSnapshot): void {
    const view = progressView(snapshot)
    for (const line of changeLines(this.#before, view)) this.#terminal.write(`${line}\n`)
    this.#before = view
  }

  note(now: Date, text: string): void {
    this.#terminal.write(`${clockText(now)} ${text}\n`)
  }

  end(): void {
    this.#before = undefined
  }
}

/** What is worth a line between two views of one rollout. */
export function changeLines(before: ProgressView | undefined, view: ProgressView): readonly string[] {
  const time = clockText(view.now)
  const earlier = new Map(before?.waves.flatMap((wave) => wave.nodes.map((node) => [node.name, node])))
  const nodeLines = view.waves
    .flatMap((wave) => wave.nodes)
    .filter((node) => !isUntold(node) && isNews(earlier.get(node.name), node))
    .map((node) => `${time} ${nodeText(node)}`)
  const changed = before === undefined || updateKey(before) !== updateKey(view)
  const head = changed ? [`${time} ${updateText(view)}`] : []
  // The end of a rollout reads as its last line.
  return view.ended ? [...nodeLines, ...head] : [...head, ...nodeLines]
}

function nodeText(node: NodeProgress): string {
  const detail = detailText(node)
  return detail === '' ? `${node.name} ${node.phase}` : `${node.name} ${node.phase}: ${detail}`
}

function updateText(view: ProgressView): string {
  if (view.refusal) {
    const why = `${view.refusal.code}: ${view.refusal.message}`
    if (view.phase === 'Failed') return `update ${view.name} refused: ${why}`
    if (view.ended) return `update ${view.name} waits until that is put right: ${why}`
    return `update ${view.name} waits, and begins by itself when it can: ${why}`
  }
  const standing = view.counts.total === 0 ? '' : `, ${countsText(view.counts)}`
  const span = view.ended ? ` in ${spanText(elapsedMs(view))}` : ''
  const course = view.course === undefined ? '' : `; ${view.course}`
  return `update ${view.name} ${view.phase}: ${view.target}${standing}${span}${course}`
}

function isUntold(node: NodeProgress): boolean {
  return node.phase === 'Pending' && (node.reason === undefined || ownTurn.has(node.reason.code))
}

/** Another phase, a new step or something new to wait for; that a step or a wait is over shows in what comes next. */
function isNews(before: NodeProgress | undefined, node: NodeProgress): boolean {
  if (before === undefined || before.phase !== node.phase) return true
  if (node.step !== undefined && node.step !== before.step) return true
  return node.reason !== undefined && reasonKey(node) !== reasonKey(before)
}

/** Times of day inside a message ("looking again at 12:06") do not make a new reason. */
function reasonKey({ reason }: NodeProgress): string {
  const message = reason?.message.replaceAll(/\d{1,2}:\d{2}(:\d{2})?Z?/g, '') ?? ''
  return `${reason?.code ?? ''}\n${message}`
}

function updateKey(view: ProgressView): string {
  return [view.phase, view.refusal?.message ?? '', String(view.paused), view.course ?? ''].join('\n')
}
