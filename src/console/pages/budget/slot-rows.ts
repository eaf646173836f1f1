// Whose slots they are: what the page says of the budgets in a sentence, in squares and in a table.

import type { BudgetView, SlotView } from '../../../api/console.ts'

export const notOurs = 'not ours'

/** `12 of 14 slots are in use, eu-1b is full`. The first budget is the cluster's. */
export function slotSentence(budgets: readonly BudgetView[]): string {
  const [cluster, ...parts] = budgets
  if (!cluster) return 'No budget is set'
  const full = parts.filter(({ used, limit }) => used.length >= limit).map(({ title }) => title)
  const inUse = `${cluster.used.length} of ${slots(cluster.limit)} ${cluster.used.length === 1 ? 'is' : 'are'} in use`
  if (full.length === 0) return inUse
  const shown =
    full.length > 2
      ? `${full.length} budgets are full`
      : `${full.join(' and ')} ${full.length === 1 ? 'is' : 'are'} full`
  return `${inUse}, ${shown}`
}

/** Who holds one, in whatever budget it counts, the oldest first. */
export function holders(budgets: readonly BudgetView[]): readonly SlotView[] {
  const byNode = new Map(budgets.flatMap(({ used }) => used.map((slot) => [slot.node, slot] as const)))
  const since = (slot: SlotView) => (slot.since === undefined ? Number.POSITIVE_INFINITY : Date.parse(slot.since))
  return [...byNode.values()].sort((a, b) => since(a) - since(b) || a.node.localeCompare(b.node))
}

export interface Squares {
  readonly used: readonly SlotView[]
  readonly free: number
  /** Not drawn, for want of room. */
  readonly more: number
}

const squaresDrawn = 28

/** What is used is drawn before what is free. */
export function squares({ used, limit }: BudgetView): Squares {
  const shown = used.slice(0, squaresDrawn)
  const free = Math.max(0, limit - used.length)
  const freeShown = Math.min(free, squaresDrawn - shown.length)
  return { used: shown, free: freeShown, more: used.length - shown.length + free - freeShown }
}

function slots(limit: number): string {
  return `${limit} ${limit === 1 ? 'slot' : 'slots'}`
}
