// The locks of other tools that the policy names: watched, taken before our first node goes, kept while any slot is held, and
// given back after the last. A lock of ours that a dead operator left is ours. One that the policy names no more is given back for
// itself: whoever holds it up holds up nothing else.

import type { ForeignLock } from '../../api/foreign-lock.ts'
import { type DaemonSet, daemonSets } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import {
  judgeLock,
  type LockStanding,
  lockAnnotation,
  lockWithoutUs,
  lockWithUs,
} from '../../core/ledger/foreign-lock.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { OperatorPorts } from '../ports.ts'

interface Watched {
  /** As the policy has it; it may be edited and still be the same lock. */
  lock: ForeignLock
  readonly store: Store<DaemonSet>
  readonly life: LinkedAbort
  isSynced: boolean
  /** Why the last write was refused, where not because somebody else was faster, and when it may be tried again. */
  refusal?: { readonly reason: Reason; readonly againAtMs: number } | undefined
  /** A write was not answered: it may have been carried out, and what is known of the lock be of the past. */
  isInDoubt?: boolean
}

export interface LocksStanding {
  /** Why nothing may start. */
  readonly closed: Reason | undefined
  /** Nothing closes but that a write was refused, a while ago: only another one can tell whether it still is. */
  readonly isToTryAgain: boolean
  /** Whether every lock is ours. */
  readonly areOurs: boolean
  /** Nodes that others work on, and by whose word. */
  readonly foreign: ReadonlyMap<string, string>
  /** When to look again, though nobody writes. */
  readonly againMs: number | undefined
}

/** After a write that was refused for good reason: somebody may have given the right meanwhile. */
const retryMs = 15_000
/** Whoever loses more often leaves it to the watch. */
const mostAttempts = 3

export class ForeignLocks {
  readonly #ports: OperatorPorts
  readonly #wake: () => void
  readonly #signal: AbortSignal
  readonly #watched = new Map<string, Watched>()
  /** The policy does not name them any more, and nobody has seen yet that they are not ours. */
  readonly #left = new Map<string, Watched>()

  constructor(ports: OperatorPorts, wake: () => void, signal: AbortSignal) {
    this.#ports = ports
    this.#wake = wake
    this.#signal = signal
  }

  /** From now on these are the locks; one that is left out is to be given back. */
  async follow(locks: readonly ForeignLock[], signal: AbortSignal): Promise<void> {
    const wanted = byIdentity(locks)
    for (const [key, watched] of this.#watched) if (!wanted.has(key)) move(key, watched, this.#watched, this.#left)
    for (const [key, watched] of this.#left) if (wanted.has(key)) move(key, watched, this.#left, this.#watched)
    for (const [key, lock] of wanted) {
      const watched = this.#watched.get(key)
      if (watched?.isInDoubt) await this.#readAnew(watched, signal)
      if (!watched) this.#watched.set(key, this.#watch(lock))
      else if (!equalJson(watched.lock, lock)) await this.#keep(watched, lock, signal)
      // What was refused is not wanted any more.
      else if (watched.refusal && this.#judgeAnew(watched) === 'ours') watched.refusal = undefined
    }
  }

  /** Under other terms: what is ours stays ours, in the form that its tool reads now. */
  async #keep(watched: Watched, lock: ForeignLock, signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.now()
    // Where the tool is gone there is nothing to write that could be refused.
    if (watched.store.size > 0 && watched.refusal && !this.#mayTryAgain(watched)) return
    const kept: Watched = { ...watched, lock, refusal: undefined }
    await this.#write(kept, 'ours', (text) => lockWithUs(lock, text, now), signal)
    watched.refusal = kept.refusal
    // Refused, it stands in its old form, and is put into the new one as soon as that may be written.
    if (!kept.refusal) watched.lock = lock
  }

  /** Whether what is told of them is about these locks. */
  isFollowing(locks: readonly ForeignLock[]): boolean {
    const wanted = byIdentity(locks)
    if (wanted.size !== this.#watched.size) return false
    return [...wanted].every(([key, lock]) => equalJson(this.#watched.get(key)?.lock, lock))
  }

  standing(): LocksStanding {
    const now = this.#ports.clock.now()
    const foreign = new Map<string, string>()
    let closed: Reason | undefined
    let areOurs = true
    let isToTryAgain = true
    const waits: number[] = []
    for (const watched of this.#watched.values()) {
      const standing = this.#judge(watched, now)
      const { type, daemonSet } = watched.lock
      for (const node of standing.strangers)
        foreign.set(node, `locked by ${type} ${daemonSet.namespace}/${daemonSet.name}`)
      if (standing.lock === 'closed') {
        closed ??= standing.reason
        isToTryAgain &&= standing.reason === watched.refusal?.reason && this.#mayTryAgain(watched)
      }
      if (standing.lock !== 'ours') areOurs = false
      if (standing.expiresAt !== undefined) waits.push(Math.max(1, standing.expiresAt - now.getTime()))
      if (watched.refusal) waits.push(retryMs)
    }
    for (const { refusal } of this.#left.values()) if (refusal) waits.push(retryMs)
    const againMs = waits.length > 0 ? Math.min(...waits) : undefined
    return { closed, isToTryAgain: closed !== undefined && isToTryAgain, areOurs, foreign, againMs }
  }

  /** Takes what is free. */
  async take(signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.now()
    for (const watched of this.#watched.values()) {
      await this.#write(watched, 'free', (text) => lockWithUs(watched.lock, text, now), signal)
    }
  }

  async giveBack(signal: AbortSignal): Promise<void> {
    for (const watched of this.#watched.values()) await this.#giveBack(watched, signal)
  }

  /** What the policy does not name any more, as often as it takes. */
  async giveBackLeft(signal: AbortSignal): Promise<void> {
    for (const [key, watched] of this.#left) {
      if (watched.isInDoubt) await this.#readAnew(watched, signal)
      if (watched.refusal && !this.#mayTryAgain(watched)) continue
      watched.refusal = undefined
      await this.#giveBack(watched, signal)
      const mayBeOurs = !watched.isSynced || (watched.store.size > 0 && this.#judgeAnew(watched) === 'ours')
      if (mayBeOurs) continue
      watched.life.abort('the policy does not name this lock any more')
      this.#left.delete(key)
    }
  }

  async #giveBack(watched: Watched, signal: AbortSignal): Promise<void> {
    await this.#write(watched, 'ours', (text) => lockWithoutUs(watched.lock, text), signal)
  }

  #mayTryAgain({ refusal }: Watched): boolean {
    return refusal !== undefined && this.#ports.clock.monotonicMs() >= refusal.againAtMs
  }

  #judge({ lock, store, isSynced, refusal, isInDoubt }: Watched, now: Date): LockStanding {
    if (isInDoubt) return { lock: 'closed', strangers: [], reason: inDoubt(lock) }
    if (!isSynced) return { lock: 'closed', strangers: [], reason: unknown(lock, 'has not been read yet') }
    const [daemonSet] = store.values()
    // The other tool is not installed, so nobody can hold its lock.
    if (!daemonSet) return { lock: 'ours', strangers: [] }
    const standing = judgeLock(lock, daemonSet.metadata.annotations?.[lockAnnotation(lock)], now)
    return refusal && standing.lock !== 'closed' ? { ...standing, lock: 'closed', reason: refusal.reason } : standing
  }

  /** As if nothing had been refused. */
  #judgeAnew(watched: Watched): LockStanding['lock'] {
    return this.#judge({ ...watched, refusal: undefined }, this.#ports.clock.now()).lock
  }

  /** Writes while the lock stands so. Its DaemonSet is written by others for other reasons: then it is read and judged anew. */
  async #write(
    watched: Watched,
    standing: 'free' | 'ours',
    change: (text: string | undefined) => string | null,
    signal: AbortSignal,
  ): Promise<void> {
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const isSo = this.#judgeAnew(watched) === standing
      if (!isSo || (await this.#tryWrite(watched, change, signal))) return
      await this.#readAnew(watched, signal)
    }
  }

  /** False when the DaemonSet is not any more what is known of it. */
  async #tryWrite(
    watched: Watched,
    change: (text: string | undefined) => string | null,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { lock, store } = watched
    const [found] = store.values()
    if (!found) return true
    const { name, namespace = '', uid, resourceVersion, annotations } = found.metadata
    const key = lockAnnotation(lock)
    const body = { metadata: { uid, resourceVersion, annotations: { [key]: change(annotations?.[key]) } } }
    try {
      store.learn(slim(await this.#ports.api.patch(daemonSets, { name, namespace }, { type: 'merge', body }, signal)))
      watched.refusal = undefined
    } catch (error) {
      if (isKubeError(error, 'Conflict')) return false
      // Gone: the watch says so, and wakes us.
      if (isKubeError(error, 'NotFound')) return true
      if (!isKubeError(error, 'Forbidden', 'Invalid')) {
        watched.isInDoubt = true
        throw error
      }
      this.#ports.log.warn('a lock cannot be written', { daemonSet: `${namespace}/${name}`, error: error.message })
      const againAtMs = this.#ports.clock.monotonicMs() + retryMs
      watched.refusal = { reason: unknown(lock, `cannot be written: ${error.message}`), againAtMs }
    }
    return true
  }

  /** By a list: that is a right the watch needs anyway. */
  async #readAnew(watched: Watched, signal: AbortSignal): Promise<void> {
    const { items } = await this.#ports.api.list(daemonSets, selectionOf(watched.lock), signal)
    for (const daemonSet of items) watched.store.learn(slim(daemonSet))
    watched.isInDoubt = false
  }

  #watch(lock: ForeignLock): Watched {
    const store = new Store<DaemonSet>()
    const life = new LinkedAbort(this.#signal)
    const selection = selectionOf(lock)
    const reflector = new Reflector<DaemonSet>({ ...this.#ports, type: daemonSets, store, selection, transform: slim })
    const watched: Watched = { lock, store, life, isSynced: false }
    store.subscribe(this.#wake)
    void reflector.run(life.signal)
    void reflector.synced(life.signal).then(
      () => {
        watched.isSynced = true
        this.#wake()
      },
      () => undefined,
    )
    return watched
  }
}

function move(key: string, watched: Watched, from: Map<string, Watched>, to: Map<string, Watched>): void {
  from.delete(key)
  to.set(key, watched)
}

/** One annotation of one DaemonSet is one lock, whatever else is said of it. */
function byIdentity(locks: readonly ForeignLock[]): ReadonlyMap<string, ForeignLock> {
  return new Map(
    locks.map((lock) => {
      const { namespace, name } = lock.daemonSet
      return [`${namespace}/${name} ${lockAnnotation(lock)}`, lock]
    }),
  )
}

function selectionOf({ daemonSet: { namespace, name } }: ForeignLock) {
  return { namespace, fieldSelector: `metadata.name=${name}` }
}

function inDoubt({ daemonSet: { namespace, name } }: ForeignLock): Reason {
  return {
    code: 'ForeignLockUnknown',
    message: `a write of the lock of DaemonSet ${namespace}/${name} was not answered: it is read again first`,
  }
}

function unknown({ type, daemonSet }: ForeignLock, what: string): Reason {
  const { namespace, name } = daemonSet
  return {
    code: 'ForeignLockUnknown',
    message: `the lock of DaemonSet ${namespace}/${name} ${what}; the operator needs the right that slipway install --lock ${type.toLowerCase()}=${namespace}/${name} --print shows`,
  }
}

/** Of a DaemonSet that is not ours only the annotations matter. */
function slim({ metadata }: DaemonSet): DaemonSet {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations } = metadata
  return {
    metadata: {
      ...{ name, uid, resourceVersion, creationTimestamp },
      ...(namespace !== undefined && { namespace }),
      ...(annotations && { annotations }),
    },
    spec: { selector: {}, template: { spec: { containers: [] } } },
  }
}
