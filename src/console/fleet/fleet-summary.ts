// How the fleet stands, in a sentence and in numbers.

import type { ConsoleState, NodeTile, TilePhase, UpdateView } from '../../api/console.ts'
import { phaseLook, tilePhases } from '../parts/phase-look.ts'

export type PhaseCounts = Readonly<Record<TilePhase, number>>

export function phaseCounts(tiles: Iterable<NodeTile>): PhaseCounts {
  const counts = Object.fromEntries(tilePhases.map((phase) => [phase, 0])) as Record<TilePhase, number>
  for (const { phase } of tiles) counts[phase] += 1
  return counts
}

/** From what is done to what is still to come. */
export const barOrder = [
  ...(['Done', 'Failed', 'RequiresAttention', 'NotReady', 'Verifying', 'Working', 'Assigned'] as const),
  ...(['Draining', 'Cordoned', 'Staging', 'Idle', 'Skipped', 'Pending'] as const),
] as const satisfies readonly TilePhase[]

/** `104 Done, 3 Draining` */
export function countsText(counts: PhaseCounts): string {
  const there = barOrder.filter((phase) => counts[phase] > 0)
  return there.length === 0
    ? 'no nodes'
    : there.map((phase) => `${number(counts[phase])} ${phaseLook(phase).label}`).join(', ')
}

const underWork: readonly TilePhase[] = ['Draining', 'Assigned', 'Working', 'Verifying']
const waitingAside: readonly TilePhase[] = ['Pending', 'Staging', 'Cordoned', 'Idle']

export function fleetTitle({ nodes, updates }: Pick<ConsoleState, 'nodes' | 'updates'>): string {
  const tiles = Object.values(nodes)
  const running = runningUpdate(updates)
  const version = running && /^v?\d+\.\d+\.\d+/.test(running.target) ? running.target.replace(/^v?/, 'v') : undefined
  if (version !== undefined) {
    const there = tiles.filter(({ kubelet }) => kubelet.replace(/^v?/, 'v') === version).length
    return `${number(there)} of ${number(tiles.length)} nodes run ${version}`
  }
  if (running)
    return `${number(running.counts.done)} of ${number(running.counts.total)} nodes are done with ${running.name}`
  if (tiles.length === 0) return 'No nodes'
  const versions = new Set(tiles.map(({ kubelet }) => kubelet))
  const [only] = versions
  return versions.size === 1
    ? `${nodesText(tiles.length)} on ${only}`
    : `${nodesText(tiles.length)}, ${versions.size} versions`
}

export function fleetSentence(tiles: readonly NodeTile[], counts: PhaseCounts, paused: boolean): string {
  const busy = underWork.reduce((sum, phase) => sum + counts[phase], 0)
  const waiting = tiles.filter(({ phase, waits }) => waits && underWork.includes(phase)).length
  const others = tiles.filter(({ phase, waits }) => waits && waitingAside.includes(phase)).length
  const said = [
    paused ? 'Emergency stop: nothing new starts.' : undefined,
    busy > 0
      ? `${are(busy)} under work${waiting > 0 ? `, ${number(waiting)} of them ${waiting === 1 ? 'waits' : 'wait'}` : ''}.`
      : undefined,
    troubles(counts),
    others > 0 ? `${number(others)} ${busy > 0 ? 'more ' : ''}${others === 1 ? 'waits' : 'wait'}.` : undefined,
  ].filter((part) => part !== undefined)
  return said.length === 0 ? 'Nothing is under work, nothing waits.' : said.join(' ')
}

function troubles(counts: PhaseCounts): string | undefined {
  const parts = [
    counts.Failed > 0 ? `${number(counts.Failed)} failed` : undefined,
    counts.RequiresAttention > 0
      ? `${number(counts.RequiresAttention)} ${counts.RequiresAttention === 1 ? 'needs' : 'need'} attention`
      : undefined,
    counts.NotReady > 0 ? `${are(counts.NotReady)} not ready` : undefined,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : `${parts.join(', ')}.`
}

/** The one that was started last and has not ended. */
export function runningUpdate(updates: Readonly<Record<string, UpdateView>>): UpdateView | undefined {
  return Object.values(updates)
    .filter(({ startedAt, finishedAt }) => startedAt !== undefined && finishedAt === undefined)
    .sort((a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? ''))[0]
}

export function number(value: number): string {
  return value.toLocaleString('en')
}

export function nodesText(count: number): string {
  return `${number(count)} ${count === 1 ? 'node' : 'nodes'}`
}

function are(count: number): string {
  return `${number(count)} ${count === 1 ? 'is' : 'are'}`
}
