// Whether the pods of each node fit elsewhere while it is away, by what they ask for. Certain only where no placement at all
// would do: room on all other nodes together, tainted ones too, is less than what has to move, or one pod is too large for any.

import type { Node } from '../../api/kube.ts'
import { parseQuantity } from '../kubernetes/quantity.ts'
import { nameList } from '../name-list.ts'
import { isUnavailable } from '../node/node-facts.ts'
import { type Check, type CheckView, failed, passed, seeing, warned } from './check.ts'
import type { Amount, NodeLoad, PodSight } from './sights.ts'

interface Room {
  readonly free: Amount
  readonly node: Node
}

type Verdict = { readonly node: string; readonly why: string }

export const capacity: Check = {
  name: 'Capacity',
  judge: seeing(
    ({ pods }) => pods,
    (sight, view) => {
      const rooms = view.nodes.filter((node) => !isUnavailable(node)).map((node) => roomOf(node, sight))
      const open = rooms.filter(({ node }) => !isTainted(node))
      const certain = misfits(view, sight, new Elsewhere(rooms))
      // With a single node that takes pods there is nothing anybody could do, and small clusters are upgraded, too.
      const alone = open.length < 2
      if (certain.length > 0 && !alone) {
        return failed(`pods of ${said(certain)} fit nowhere else while it is away; add nodes or lower their requests`)
      }
      const possible = alone ? certain : misfits(view, sight, new Elsewhere(open))
      if (possible.length === 0) return passed('the pods of each node have room on the others')
      const where = alone ? 'have no other node to go to' : 'may have no room on nodes without taints'
      return warned(`pods of ${said(possible)} ${where} while it is away, and wait until it is back`)
    },
  ),
}

function misfits({ selected }: CheckView, { loads }: PodSight, elsewhere: Elsewhere): readonly Verdict[] {
  return selected.flatMap((node) => {
    const load = loads.get(node.metadata.name)
    const why = load && elsewhere.tooSmallFor(node, load)
    return why === undefined ? [] : [{ node: node.metadata.name, why }]
  })
}

function said(verdicts: readonly Verdict[]): string {
  return nameList(verdicts.map(({ node, why }) => `${node} (${why})`))
}

/** The room on all nodes but one, for one node after the other without walking over all of them each time. */
class Elsewhere {
  readonly #byName: ReadonlyMap<string, Amount>
  readonly #total: Amount
  readonly #mostCpu: readonly Room[]
  readonly #mostMemory: readonly Room[]

  constructor(rooms: readonly Room[]) {
    this.#byName = new Map(rooms.map(({ node, free }) => [node.metadata.name, free]))
    this.#total = rooms.reduce((sum, { free }) => plus(sum, free), nothing)
    this.#mostCpu = topTwo(rooms, ({ free }) => free.cpu)
    this.#mostMemory = topTwo(rooms, ({ free }) => free.memoryBytes)
  }

  tooSmallFor(node: Node, { moving, largestCpu, largestMemory }: NodeLoad): string | undefined {
    if (moving.pods === 0) return undefined
    const own = this.#byName.get(node.metadata.name) ?? nothing
    // Infinite room less infinite room is none that could be reckoned with.
    const free = (amount: keyof Amount) =>
      this.#total[amount] === Infinity ? Infinity : this.#total[amount] - own[amount]
    if (moving.cpu > free('cpu')) return `${cores(moving.cpu)} CPU asked for, ${cores(free('cpu'))} free`
    if (moving.memoryBytes > free('memoryBytes')) {
      return `${gib(moving.memoryBytes)} memory asked for, ${gib(free('memoryBytes'))} free`
    }
    if (moving.pods > free('pods')) return `${moving.pods} pods, room for ${free('pods')}`
    const mostCpu = this.#mostCpu.find((room) => room.node !== node)?.free.cpu ?? 0
    if (largestCpu.amount > mostCpu) return `${largestCpu.pod} asks for ${cores(largestCpu.amount)} CPU`
    const mostMemory = this.#mostMemory.find((room) => room.node !== node)?.free.memoryBytes ?? 0
    if (largestMemory.amount > mostMemory) return `${largestMemory.pod} asks for ${gib(largestMemory.amount)} memory`
    return undefined
  }
}

const nothing: Amount = { cpu: 0, memoryBytes: 0, pods: 0 }

function roomOf(node: Node, { loads }: PodSight): Room {
  const { allocatable = {} } = node.status ?? {}
  // A node that does not say what it has is not called too small.
  const of = (name: string) => parseQuantity(allocatable[name] ?? '') ?? Infinity
  const asked = loads.get(node.metadata.name)?.asked ?? nothing
  const left = (all: number, used: number) => Math.max(0, all - used)
  return {
    node,
    free: {
      cpu: left(of('cpu'), asked.cpu),
      memoryBytes: left(of('memory'), asked.memoryBytes),
      pods: left(of('pods'), asked.pods),
    },
  }
}

function isTainted({ spec }: Node): boolean {
  return spec.taints?.some(({ effect }) => effect !== 'PreferNoSchedule') ?? false
}

function topTwo(rooms: readonly Room[], by: (room: Room) => number): readonly Room[] {
  let [first, second]: (Room | undefined)[] = []
  for (const room of rooms) {
    if (!first || by(room) > by(first)) [first, second] = [room, first]
    else if (!second || by(room) > by(second)) second = room
  }
  return [first, second].filter((room) => room !== undefined)
}

export function plus(a: Amount, b: Amount): Amount {
  return { cpu: a.cpu + b.cpu, memoryBytes: a.memoryBytes + b.memoryBytes, pods: a.pods + b.pods }
}

function cores(amount: number): string {
  return String(Math.round(amount * 1000) / 1000)
}

function gib(bytes: number): string {
  return `${Math.round((bytes / 2 ** 30) * 10) / 10} GiB`
}
