// How long an operation's nodes take, from the slot to its return: what is not done before a window closes is not begun. What
// NodeStates have on record is known to the next leader as well.

import type { NodeState } from '../../api/node-state.ts'

const remembered = 20
/** Of the slots that came back: a time that most nodes keep. */
const quantile = 0.75
const margin = 1.2

export class NodeTimes {
  readonly #byHolder = new Map<string, number[]>()

  note(holder: string, tookMs: number): void {
    if (!this.#byHolder.has(holder) && this.#byHolder.size >= remembered) {
      const [oldest] = this.#byHolder.keys()
      if (oldest !== undefined) this.#byHolder.delete(oldest)
    }
    this.#byHolder.set(holder, [...(this.#byHolder.get(holder) ?? []), tookMs].slice(-remembered))
  }

  /** As they are on record, the earliest first. */
  recall(states: Iterable<NodeState>): void {
    const done = [...states].flatMap(({ status }) => {
      const { phase, operationID = '', takenAt, finishedAt } = status?.rollout ?? {}
      if (phase !== 'Done' || takenAt === undefined || finishedAt === undefined) return []
      return [{ operationID, takenMs: Date.parse(takenAt), finishedMs: Date.parse(finishedAt) }]
    })
    for (const { operationID, takenMs, finishedMs } of done.toSorted((a, b) => a.finishedMs - b.finishedMs)) {
      this.note(operationID, finishedMs - takenMs)
    }
  }

  /** Undefined while nothing was measured. */
  neededMs(holder: string): number | undefined {
    const times = this.#byHolder.get(holder)?.toSorted((a, b) => a - b)
    const typical = times?.[Math.ceil((times.length - 1) * quantile)]
    return typical === undefined ? undefined : Math.round(typical * margin)
  }
}
