import { type Lease, leases } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { CancelTimer, Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { backOffMs } from './back-off.ts'
import { microTime } from './micro-time.ts'
import { sleep } from './sleep.ts'

const retry = { baseMs: 500, maxMs: 2_000 }

export interface LeaseTermOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly identity: string
  readonly renewEveryMs: number
  readonly renewDeadlineMs: number
  readonly onRenewed: (lease: Lease) => void
}

/** One term of leadership: from the write that won the lease until it is given up or could be taken by another. */
export class LeaseTerm {
  readonly transitions: number
  readonly #options: LeaseTermOptions
  readonly #ended = new AbortController()
  #lease: Lease
  #validUntilMs: number
  #cancelDeadline: CancelTimer

  /** `beganMs`: when the request that won the lease was sent, by the monotonic clock. */
  constructor(options: LeaseTermOptions, lease: Lease, beganMs: number) {
    this.#options = options
    this.#lease = lease
    this.transitions = lease.spec.leaseTransitions ?? 0
    this.#validUntilMs = beganMs + options.renewDeadlineMs
    this.#cancelDeadline = this.#armDeadline()
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  isCurrent(): boolean {
    return !this.#ended.signal.aborted && this.#options.clock.monotonicMs() < this.#validUntilMs
  }

  end(reason: SlipwayError): void {
    this.#cancelDeadline()
    this.#ended.abort(reason)
  }

  /** Another holds the lease now, or nobody does, or it may be so: nothing may be done any more. */
  lose(why: string): void {
    if (!this.signal.aborted) this.#options.log.warn('leadership lost', { why })
    this.end(new SlipwayError('NotLeader', `leadership lost: ${why}`))
  }

  /** Renews until the term ends. */
  async keep(): Promise<void> {
    const { clock, random, renewEveryMs, log } = this.#options
    let failures = 0
    while (!this.signal.aborted) {
      try {
        await sleep(clock, failures === 0 ? renewEveryMs : backOffMs(retry, failures, random), this.signal)
        await this.#renew(failures > 0)
        failures = 0
      } catch (error) {
        if (this.signal.aborted) return
        failures += 1
        const code = isKubeError(error) ? error.code : 'Internal'
        log.info('lease not renewed, trying again', { code, error })
      }
    }
  }

  async #renew(lookFirst: boolean): Promise<void> {
    const { api, clock, identity, onRenewed, renewDeadlineMs } = this.#options
    if (lookFirst) {
      // The attempt that seemed to fail may have taken effect; or somebody else has written.
      const { name, namespace } = this.#lease.metadata
      const found = await api
        .get(leases, { name, ...(namespace === undefined ? {} : { namespace }) }, this.signal)
        .catch((error: unknown) => {
          if (isKubeError(error, 'NotFound')) return undefined
          throw error
        })
      if (found?.spec.holderIdentity !== identity) {
        this.lose('the lease is held by another')
        return
      }
      this.#lease = found
    }
    const beganMs = clock.monotonicMs()
    const spec = { ...this.#lease.spec, renewTime: microTime(clock.now()) }
    this.#lease = await api.replace(leases, { ...this.#lease, spec }, this.signal)
    this.#validUntilMs = beganMs + renewDeadlineMs
    onRenewed(this.#lease)
  }

  /** One timer for the whole term: when it fires and the lease was renewed meanwhile, it is set anew. */
  #armDeadline(): CancelTimer {
    const { clock } = this.#options
    return clock.after(Math.max(1, this.#validUntilMs - clock.monotonicMs()), () => {
      if (clock.monotonicMs() >= this.#validUntilMs) this.lose('the lease could not be renewed in time')
      else this.#cancelDeadline = this.#armDeadline()
    })
  }
}
