// How long the whole takes, when the times of the nodes are known or taken from others: nodes go in turn, as many at once as the
// budgets allow, wave after wave.

export interface TimetableView {
  /** The waves of workers, each in turn. */
  readonly waves: readonly { readonly nodes: readonly string[]; readonly soakMs: number }[]
  readonly atOnce: number
  readonly msOf: (node: string) => number
  /** The sets a node counts in besides the whole, and how many of each may be away. */
  readonly setsOf: (node: string) => readonly NodeSet[]
}

export interface NodeSet {
  readonly name: string
  readonly maxUnavailable: number
}

export interface Timetable {
  readonly endMs: number
  readonly nodes: ReadonlyMap<string, { readonly atMs: number; readonly backMs: number }>
}

export function timetable({ waves, ...view }: TimetableView): Timetable {
  const times = new Map<string, { readonly atMs: number; readonly backMs: number }>()
  let endMs = 0
  for (const { nodes, soakMs } of waves) {
    if (nodes.length > 0) endMs = waveEnd(nodes, endMs, view, (name, time) => times.set(name, time)) + soakMs
  }
  return { endMs, nodes: times }
}

interface Under {
  readonly endMs: number
  readonly sets: readonly NodeSet[]
}

function waveEnd(
  nodes: readonly string[],
  startMs: number,
  view: Omit<TimetableView, 'waves'>,
  note: (name: string, time: { readonly atMs: number; readonly backMs: number }) => void,
): number {
  const { atOnce, msOf, setsOf } = view
  const away = new Map<string, number>()
  const count = (sets: readonly NodeSet[], by: 1 | -1) => {
    for (const { name } of sets) away.set(name, (away.get(name) ?? 0) + by)
  }
  const isFull = ({ name, maxUnavailable }: NodeSet) => (away.get(name) ?? 0) >= Math.max(1, maxUnavailable)
  /** The soonest to be back comes last. */
  const under: Under[] = []
  let waiting = nodes
  let next = 0
  let nowMs = startMs
  for (;;) {
    const passedOver: string[] = []
    for (; next < waiting.length && under.length < atOnce; next++) {
      const name = waiting[next] ?? ''
      const sets = setsOf(name)
      if (sets.some(isFull)) {
        passedOver.push(name)
        continue
      }
      count(sets, 1)
      const endMs = nowMs + msOf(name)
      note(name, { atMs: nowMs, backMs: endMs })
      insert(under, { endMs, sets })
    }
    if (passedOver.length > 0) {
      waiting = [...passedOver, ...waiting.slice(next)]
      next = 0
    }
    const first = under.pop()
    if (!first) return nowMs
    nowMs = Math.max(nowMs, first.endMs)
    count(first.sets, -1)
  }
}

function insert(under: Under[], one: Under): void {
  const place = under.findLastIndex(({ endMs }) => endMs > one.endMs)
  under.splice(place + 1, 0, one)
}
