// What of the orders that have ended may go: whole folders by number and age, logs by their size together. Pure.

/** An order that has ended, as its folder shows it. */
export interface EndedOrder {
  /** Of its folder. */
  readonly name: string
  readonly finishedAt: string
  readonly logBytes: number
}

export interface Keeping {
  readonly operations: number
  readonly forMs: number
  readonly logBytes: number
}

export interface Leftovers {
  /** Folders that go as a whole. */
  readonly folders: readonly string[]
  /** Folders whose logs go. */
  readonly logs: readonly string[]
}

/** The newest always stays, and so does every order that is not among the ended ones. */
export function leftovers(ended: readonly EndedOrder[], keeping: Keeping, nowMs: number): Leftovers {
  const [newest, ...older] = ended.toSorted((a, b) => Date.parse(b.finishedAt) - Date.parse(a.finishedAt))
  if (!newest) return { folders: [], logs: [] }
  const stays = ({ finishedAt }: EndedOrder, index: number) =>
    index + 1 < keeping.operations && Date.parse(finishedAt) + keeping.forMs > nowMs
  const folders = older.filter((order, index) => !stays(order, index))
  const kept = older.filter(stays)
  let room = keeping.logBytes - newest.logBytes
  const logs = kept.filter(({ logBytes }) => {
    room -= logBytes
    return room < 0 && logBytes > 0
  })
  return { folders: folders.map(({ name }) => name), logs: logs.map(({ name }) => name) }
}
