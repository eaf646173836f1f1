// One acts, the others stand by. Safe by two measurements that need no common clock: the leader stops acting
// `renewDeadlineMs` after it began the last renewal that succeeded; a candidate takes over only when it has known the very
// same record for `leaseDurationMs`, and only by a write that fails if the record has changed since.

import { type Lease, leases } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { backOffMs } from './back-off.ts'
import { LeaseTerm } from './lease-term.ts'
import { microTime } from './micro-time.ts'
import { Reflector } from './reflector.ts'
import { sleep } from './sleep.ts'
import { Store } from './store.ts'

const retry = { baseMs: 500, maxMs: 5_000 }
const releaseMs = 3_000

export interface Term {
  /** Aborted when the term ends, before another can have the lease. */
  readonly signal: AbortSignal
  /**
   * By the monotonic clock, to be checked synchronously before each write: false from the moment the lease could be
   * taken by another, also after the process was frozen.
   */
  isCurrent(): boolean
  readonly transitions: number
}

export interface LeaderElectionOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly namespace: string
  readonly name: string
  /** Never shared by two processes, also not by one and its successor that may live at the same time. */
  readonly identity: string
  readonly leaseDurationMs?: number
  readonly renewEveryMs?: number
  readonly renewDeadlineMs?: number
}

export class LeaderElection {
  readonly #options: Required<LeaderElectionOptions>
  readonly #log: Log
  readonly #store = new Store<Lease>()
  /** When the present record was first seen, by our own clock. */
  #seenMs = 0
  #changes = 0
  #term: LeaseTerm | undefined
  #pausedUntilMs = 0

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDurationMs: 15_000, renewEveryMs: 5_000, renewDeadlineMs: 10_000, ...options }
    const { leaseDurationMs, renewDeadlineMs, renewEveryMs } = this.#options
    if (!(renewEveryMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
      throw new RangeError('renewEveryMs < renewDeadlineMs < leaseDurationMs must hold')
    }
    this.#log = options.log.with({ lease: options.name, identity: options.identity })
  }

  /**
   * Campaigns until aborted; calls `lead` for each term and waits for it before it campaigns again. Standby watches the
   * lease and never polls. On abort the lease is released, so that the next takes over at once.
   */
  async run(lead: (term: Term) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { api, clock, random, namespace, name } = this.#options
    const unsubscribe = this.#store.subscribe((change) => {
      this.#seenMs = clock.monotonicMs()
      this.#changes += 1
      const holder = change.type === 'removed' ? undefined : change.object.spec.holderIdentity
      if (holder !== this.#options.identity) this.#term?.lose(`the lease is held by ${holder ?? 'nobody'}`)
    })
    const selection = { namespace, fieldSelector: `metadata.name=${name}` }
    const reflector = new Reflector({ api, type: leases, selection, store: this.#store, clock, random, log: this.#log })
    const watching = reflector.run(signal)
    try {
      await reflector.synced(signal)
      for (;;) {
        const term = await this.#campaign(signal)
        await this.#serve(term, lead, signal)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      unsubscribe()
    }
    await watching
  }

  /**
   * Ends the present term and does not campaign for that long: used to move the operator away from a node. Resolves when
   * the term has ended, so that it may be called from within `lead`; the lease is released once `lead` has returned.
   */
  async stepDown(pauseMs: number): Promise<void> {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#options.clock.monotonicMs() + pauseMs)
    this.#term?.end(new SlipwayError('Stopped', 'stepping down so that another leads'))
  }

  async #campaign(signal: AbortSignal): Promise<LeaseTerm> {
    const { clock, random, namespace, name } = this.#options
    let failures = 0
    for (;;) {
      const pauseMs = this.#pausedUntilMs - clock.monotonicMs()
      if (pauseMs > 0) {
        await sleep(clock, pauseMs, signal)
        continue
      }
      const lease = this.#store.get(`${namespace}/${name}`)
      const changes = this.#changes
      let waitMs = this.#takeableInMs(lease)
      if (waitMs <= 0) {
        const beganMs = clock.monotonicMs()
        try {
          return this.#begin(await this.#take(lease, signal), beganMs)
        } catch (error) {
          if (signal.aborted) throw error
          failures += 1
          waitMs = backOffMs(retry, failures, random)
          const code = isKubeError(error) ? error.code : 'Internal'
          if (isKubeError(error, 'Conflict', 'AlreadyExists')) this.#log.debug('another was faster', { code })
          else this.#log.warn('lease cannot be taken, trying again', { code, error })
        }
      }
      if (changes === this.#changes) await this.#changed(waitMs, signal)
    }
  }

  #takeableInMs(lease: Lease | undefined): number {
    const { clock, identity, leaseDurationMs } = this.#options
    const holder = lease?.spec.holderIdentity
    // Our own name there means a write of ours that seemed to have failed.
    if (lease === undefined || holder === undefined || holder === null || holder === '' || holder === identity) return 0
    const durationMs = Math.max(leaseDurationMs, (lease.spec.leaseDurationSeconds ?? 0) * 1_000)
    return this.#seenMs + durationMs - clock.monotonicMs()
  }

  #take(lease: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { api, clock, namespace, name, identity, leaseDurationMs } = this.#options
    const now = microTime(clock.now())
    const before = lease?.spec
    const transitions = before?.leaseTransitions ?? 0
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: lease === undefined || before?.holderIdentity === identity ? transitions : transitions + 1,
    }
    return lease === undefined
      ? api.create<Lease>(leases, { metadata: { namespace, name }, spec }, signal)
      : api.replace(leases, { ...lease, spec }, signal)
  }

  #begin(lease: Lease, beganMs: number): LeaseTerm {
    const { api, clock, random, identity, renewEveryMs, renewDeadlineMs } = this.#options
    const onRenewed = (renewed: Lease) => this.#store.learn(renewed)
    const options = { api, clock, random, log: this.#log, identity, renewEveryMs, renewDeadlineMs, onRenewed }
    this.#store.learn(lease)
    return new LeaseTerm(options, lease, beganMs)
  }

  async #serve(term: LeaseTerm, lead: (term: Term) => Promise<void>, signal: AbortSignal): Promise<void> {
    const stop = () => term.end(new SlipwayError('Stopped', 'the process is stopping'))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    this.#term = term
    this.#log.info('leading', { transitions: term.transitions })
    const kept = term.keep()
    try {
      if (!term.signal.aborted) await lead(term)
    } catch (error) {
      if (!term.signal.aborted) this.#log.error('the leader’s work failed, giving up the lease', { error })
    }
    // Work that ended by itself: let another try, and do not win again in a tight loop.
    if (!term.signal.aborted) await this.stepDown(this.#options.renewEveryMs)
    await kept
    this.#term = undefined
    signal.removeEventListener('abort', stop)
    const reason: unknown = term.signal.reason
    if (reason instanceof SlipwayError && reason.code === 'Stopped') await this.#release()
  }

  async #release(): Promise<void> {
    const { api, clock, namespace, name, identity } = this.#options
    const limit = new AbortController()
    const cancel = clock.after(releaseMs, () => limit.abort(new SlipwayError('Stopped', 'releasing took too long')))
    try {
      const lease = await api.get(leases, { namespace, name }, limit.signal)
      if (lease.spec.holderIdentity !== identity) return
      const spec = { ...lease.spec, holderIdentity: null, renewTime: microTime(clock.now()) }
      this.#store.learn(await api.replace(leases, { ...lease, spec }, limit.signal))
      this.#log.info('lease released')
    } catch (error) {
      this.#log.warn('lease not released, the next leader has to wait for its end', { error })
    } finally {
      cancel()
    }
  }

  /** Resolves at the next change of the lease, or when the time has passed. */
  #changed(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        cancel()
        unsubscribe()
        signal.removeEventListener('abort', settle)
        if (signal.aborted) reject(signal.reason)
        else resolve()
      }
      const cancel = this.#options.clock.after(ms, settle)
      const unsubscribe = this.#store.subscribe(settle)
      signal.addEventListener('abort', settle, { once: true })
      if (signal.aborted) settle()
    })
  }
}
