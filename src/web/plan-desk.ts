// Plans that were made here: one at a time, for each fills a core; the last of each update is kept.

import type { PlanAnswer, PlanRequest } from '../api/console.ts'
import { planRequestSchema } from '../api/console-requests.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { shapeFaults } from '../core/shape-faults.ts'

export type Planner = (wish: PlanRequest, signal: AbortSignal) => Promise<PlanAnswer>

export function planRequest(body: unknown): PlanRequest {
  const parsed = planRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new SlipwayError('Usage', shapeFaults(parsed.error), { nextStep: 'reload the page: it may be an older one' })
}

const mostKept = 20

export class PlanDesk {
  readonly #planner: Planner
  readonly #kept = new Map<string, PlanAnswer>()
  #busy = false

  constructor(planner: Planner) {
    this.#planner = planner
  }

  /** Newest first. */
  kept(): readonly PlanAnswer[] {
    return [...this.#kept.values()].toReversed()
  }

  /** Given up when the caller hangs up. */
  async make(wish: PlanRequest, signal: AbortSignal): Promise<PlanAnswer> {
    if (this.#busy) {
      throw new SlipwayError('Refused', 'another plan is being made', { nextStep: 'wait for it, then ask again' })
    }
    this.#busy = true
    try {
      const answer = await this.#planner(wish, signal)
      this.#kept.delete(answer.update)
      this.#kept.set(answer.update, answer)
      const [oldest] = this.#kept.keys()
      if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest)
      return answer
    } finally {
      this.#busy = false
    }
  }
}
