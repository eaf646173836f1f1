// The servers of a fault run: one that gates ask, sick for a while, and one that hooks tell. What hooks told is kept: each run
// of a hook must be cleaned up once, and nothing cleaned up that never ran.

import type { Clock } from '../../ports/clock.ts'
import type { Web, WebAnswer, WebRequest } from '../../ports/web.ts'
import { type FaultExtras, gateAddress } from './fault-extras.ts'

interface Told {
  readonly hook: string
  readonly cleanup: boolean
  readonly operation: string
  readonly node?: string
  readonly wave?: number
}

const well: WebAnswer = { status: 200, body: 'ok' }
const sick: WebAnswer = { status: 503, body: 'not now' }

export class FaultWeb implements Web {
  readonly #clock: () => Clock
  readonly #extras: FaultExtras
  /** By its key: a server does what it is told once. */
  readonly #told = new Map<string, Told>()

  constructor(extras: FaultExtras, clock: () => Clock) {
    this.#extras = extras
    this.#clock = clock
  }

  request({ url, headers, body }: WebRequest): Promise<WebAnswer> {
    if (url === gateAddress) return Promise.resolve(this.sickSince() === undefined ? well : sick)
    const key = headers?.['idempotency-key']
    if (key !== undefined) this.#told.set(key, JSON.parse(body ?? '{}') as Told)
    return Promise.resolve(this.#refusal() ?? well)
  }

  /** Since when the server that gates ask is not well. */
  sickSince(): number | undefined {
    const { sickServer } = this.#extras
    const nowMs = this.#clock().monotonicMs()
    return sickServer && nowMs >= sickServer.fromMs && nowMs < sickServer.untilMs ? sickServer.fromMs : undefined
  }

  #refusal(): WebAnswer | undefined {
    const { sickHooks } = this.#extras
    const nowMs = this.#clock().monotonicMs()
    const isSick = sickHooks && nowMs >= sickHooks.fromMs && nowMs < sickHooks.untilMs
    return isSick ? { status: sickHooks.status, body: 'not now' } : undefined
  }

  /** What hooks did and nobody has cleaned up, or was cleaned up twice or for nothing. */
  unbalanced(): readonly string[] {
    const balance = new Map<string, { runs: number; cleanups: number }>()
    const owing = new Set(this.#extras.hooks.filter(({ cleanup }) => cleanup).map(({ name }) => name))
    for (const { hook, cleanup, operation, node, wave } of this.#told.values()) {
      if (!owing.has(hook)) continue
      const what = [hook, operation, ...(node === undefined ? [] : [node]), ...(wave === undefined ? [] : [wave])].join(
        ' ',
      )
      const { runs, cleanups } = balance.get(what) ?? { runs: 0, cleanups: 0 }
      balance.set(what, cleanup ? { runs, cleanups: cleanups + 1 } : { runs: runs + 1, cleanups })
    }
    // One that was refused and is tried again is cleaned up once for both.
    const isEnough = (runs: number, cleanups: number) =>
      this.#extras.sickHooks ? cleanups >= Math.min(1, runs) : cleanups >= runs
    return [...balance].flatMap(([what, { runs, cleanups }]) =>
      cleanups <= runs && isEnough(runs, cleanups) ? [] : [`${what}: ran ${runs} times, cleaned up ${cleanups} times`],
    )
  }
}
