// Which nodes of a large cluster are rehearsed: all that have something particular about them, then of those that are alike a few,
// the first in turn. The others are taken to go as these.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { isCordoned } from '../node/node-facts.ts'
import type { Itinerary } from './itinerary.ts'
import type { Finding } from './look.ts'

export interface SampleView {
  readonly itinerary: Itinerary
  readonly nodeOf: (name: string) => Node | undefined
  readonly stateOf: (name: string) => NodeState | undefined
  readonly findings: readonly Finding[]
  /** Nodes that must be among them: where the operator runs, those a gate is closed for. */
  readonly wanted: readonly string[]
  /** As many as may be rehearsed; the control plane always is, and the first node of each wave. */
  readonly atMost: number
}

export function sampleNodes(view: SampleView): ReadonlySet<string> {
  const { itinerary, wanted, findings, atMost } = view
  const [controlPlane = [], ...waves] = itinerary.waves
  const workers = waves.flat()
  const all = new Set(itinerary.waves.flat())
  const chosen = new Set([...controlPlane, ...waves.flatMap((wave) => wave.slice(0, 1))])
  const take = (names: Iterable<string>, upTo: number) => {
    for (const name of names) {
      if (chosen.size >= upTo) return
      if (all.has(name)) chosen.add(name)
    }
  }
  const quarter = (part: number) => Math.min(atMost, chosen.size + Math.ceil(((atMost - chosen.size) * part) / 4))
  take(wanted, atMost)
  take(cordoned(view, workers), quarter(1))
  take(ofEachCause(findings), quarter(2))
  take(firstOfEachKind(view, workers), quarter(2))
  take(workers, atMost)
  return chosen
}

function cordoned({ nodeOf }: SampleView, workers: readonly string[]): readonly string[] {
  return workers.filter((name) => {
    const node = nodeOf(name)
    return node !== undefined && isCordoned(node)
  })
}

/** The first node of each, then the second: no cause with many nodes keeps the others out. */
function* ofEachCause(findings: readonly Finding[]): Generator<string> {
  const longest = Math.max(0, ...findings.map(({ nodes }) => nodes.length))
  for (let round = 0; round < longest; round++) {
    for (const { nodes } of findings) {
      const name = nodes[round]
      if (name !== undefined) yield name
    }
  }
}

function firstOfEachKind(view: SampleView, workers: readonly string[]): readonly string[] {
  const kinds = new Map<string, string>()
  for (const name of workers) {
    const kind = kindOf(view.nodeOf(name), view.stateOf(name))
    if (!kinds.has(kind)) kinds.set(kind, name)
  }
  return [...kinds.values()]
}

const tellingLabels = ['topology.kubernetes.io/zone', 'node.kubernetes.io/instance-type', 'kubernetes.io/arch'] as const

/** Nodes of one kind look alike to the scheduler and to the work. */
function kindOf(node: Node | undefined, state: NodeState | undefined): string {
  const { nodeInfo = {}, allocatable = {} } = node?.status ?? {}
  const { bootID: _, machineID: __, systemUUID: ___, ...software } = nodeInfo as Readonly<Record<string, string>>
  return JSON.stringify([
    tellingLabels.map((label) => node?.metadata.labels?.[label]),
    node?.spec.taints,
    allocatable,
    software,
    state?.status?.agent?.drivers,
  ])
}
