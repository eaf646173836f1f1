// Carries resources of one foreign kind out by resources of one of ours: makes ours, passes edits on, and tells in theirs how it
// stands. What to do is decided in decide-carry.ts.

import type { KubeObject, ObjectMeta, ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { mergePatch } from '../../core/merge-patch.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Store } from '../../kube/store.ts'
import type { Unsaved } from '../../ports/kube-api.ts'
import type { OperatorPorts } from '../ports.ts'
import {
  type CarryAction,
  carriedBy,
  carrierName,
  decideCarry,
  foreignMessage,
  pausedByTheirs,
} from './decide-carry.ts'
import type { Refusal, Translated } from './translation.ts'

type Ours<S> = KubeObject & { readonly spec: S }
type Theirs = KubeObject & { readonly status?: object }

export interface CarrierOptions<F extends Theirs, O extends Ours<S>, S extends object> {
  readonly ports: OperatorPorts
  readonly events: EventRecorder
  readonly theirType: ResourceType<F>
  readonly theirs: Store<F>
  readonly ourType: ResourceType<O>
  readonly ours: Store<O>
  readonly fields: readonly (keyof S & string)[]
  readonly orphanFinalizers: readonly string[]
  translate(theirs: F, signal: AbortSignal): Promise<Translated<S>>
  unsaved(metadata: Partial<ObjectMeta>, spec: S): Unsaved<O>
  fixed(ours: O): readonly (keyof S & string)[]
  isOver(theirs: F): boolean
  paused?(theirs: F): boolean
  /** Their status while ours is there. */
  statusOf(theirs: F, ours: O, notes: readonly string[]): object
  /** The same when there is none, for this reason; undefined where it has no word for it. */
  withoutOurs(theirs: F, why: Refusal | 'gone'): object | undefined
  /** Its status has no room for what a person should know: an annotation says it. */
  readonly wordless?: true
  /** What `kubectl describe` should tell of this change. */
  told(
    before: object | undefined,
    after: object,
  ): { readonly type: 'Normal' | 'Warning'; reason: string; note: string } | undefined
}

/** More steps than one resource ever takes in a row. */
const maxSteps = 8
/** Their status is written at most so often. */
const statusEveryMs = 1_000
/** What no watch of ours would tell (a ConfigMap that is missing) is looked at again after this. */
const refusedMs = 30_000

export class ForeignCarrier<F extends Theirs, O extends Ours<S>, S extends object> {
  readonly #options: CarrierOptions<F, O, S>
  readonly #writtenMs = new Map<string, number>()

  constructor(options: CarrierOptions<F, O, S>) {
    this.#options = options
  }

  /** Ours, if it is this one's. */
  oursOf({ metadata }: KubeObject): O | undefined {
    const ours = this.#options.ours.get(carrierName(metadata))
    return ours?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ? ours : undefined
  }

  /** In milliseconds, when to look again though nothing changes. */
  async reconcile(name: string, signal: AbortSignal): Promise<number | undefined> {
    for (let step = 0; step < maxSteps; step++) {
      const theirs = this.#options.theirs.get(name)
      if (!theirs) {
        this.#writtenMs.delete(name)
        return undefined
      }
      const result = await this.#step(theirs, signal)
      if (result !== 'again') return result
    }
    return statusEveryMs
  }

  async #step(theirs: F, signal: AbortSignal): Promise<number | undefined | 'again'> {
    const { fields, orphanFinalizers, fixed, isOver, paused } = this.#options
    const ours = this.oursOf(theirs)
    const translated = await this.#options.translate(theirs, signal)
    const action = decideCarry<S>({
      ...{ theirs: theirs.metadata, orphanFinalizers, translated, ours, fields },
      isOver: isOver(theirs),
      fixed: ours ? fixed(ours) : [],
      ...(paused && { paused: paused(theirs) }),
    })
    return await this.#act(theirs, ours, action, signal)
  }

  async #act(
    theirs: F,
    ours: O | undefined,
    action: CarryAction<S>,
    signal: AbortSignal,
  ): Promise<number | undefined | 'again'> {
    switch (action.action) {
      case 'rest':
        return undefined
      case 'release': {
        const { finalizers } = action
        await this.#patch(theirs, { metadata: { finalizers: finalizers.length > 0 ? finalizers : null } }, signal)
        return undefined
      }
      case 'make':
        return await this.#make(theirs, action.name, action.spec, signal)
      case 'link':
        await this.#patch(
          theirs,
          { metadata: { annotations: { [carriedBy]: action.name, [foreignMessage]: null } } },
          signal,
        )
        return 'again'
      case 'edit':
        return ours ? await this.#edit(theirs, ours, action.spec, signal) : undefined
      case 'refuse':
        await this.#refuse(theirs, action.why, signal)
        return refusedMs
      case 'gone': {
        const status = this.#options.withoutOurs(theirs, 'gone')
        if (status) await this.#writeStatus(theirs, status, signal)
        return undefined
      }
      case 'tell':
        return ours ? await this.#tell(theirs, ours, action.notes, signal) : undefined
    }
  }

  async #make(theirs: F, name: string, spec: S, signal: AbortSignal): Promise<number | undefined | 'again'> {
    const { ports, ourType, ours, theirType, paused } = this.#options
    const { apiVersion, kind } = ourType
    const owner = {
      ...{ apiVersion: theirType.apiVersion, kind: theirType.kind },
      ...{ name: theirs.metadata.name, uid: theirs.metadata.uid, controller: true },
    }
    const metadata = {
      name,
      ownerReferences: [owner],
      ...(paused?.(theirs) && { annotations: { [pausedByTheirs]: 'true' } }),
    }
    try {
      ours.learn(await ports.api.create(ourType, this.#options.unsaved(metadata, spec), signal))
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists', 'Invalid', 'Forbidden')) throw error
      // Ours already, and the watch will bring it.
      if (error.code === 'AlreadyExists' && !ours.get(name)) return statusEveryMs
      const taken = `a ${kind} ${name} that is not its own is in the way; delete or rename it`
      await this.#refuse(theirs, { refusal: error.code === 'AlreadyExists' ? taken : error.message }, signal)
      return refusedMs
    }
    this.#say(theirs, 'Normal', 'Made', `${kind} ${name} of ${apiVersion} carries it out`)
    return 'again'
  }

  async #edit(
    theirs: F,
    known: O,
    spec: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<number | undefined | 'again'> {
    const { ports, ourType, ours } = this.#options
    const { name, uid, resourceVersion } = known.metadata
    const pause =
      'desiredState' in spec ? { [pausedByTheirs]: spec.desiredState === 'Paused' ? 'true' : null } : undefined
    const body = { metadata: { uid, resourceVersion, ...(pause && { annotations: pause }) }, spec }
    try {
      ours.learn(await ports.api.patch(ourType, { name }, { type: 'merge', body }, signal))
      return 'again'
    } catch (error) {
      if (!isKubeError(error, 'Invalid', 'Forbidden')) throw error
      // It began meanwhile, or a policy of the cluster is against it.
      return await this.#tell(theirs, known, [`its edit is not taken up: ${error.message}`], signal)
    }
  }

  async #tell(known: F, ours: O, notes: readonly string[], signal: AbortSignal): Promise<number | undefined> {
    const theirs = this.#options.wordless
      ? await this.#annotate(known, notes.join('; ') || null, 'ForeignNoted', signal)
      : known
    if (!theirs) return undefined
    const { name } = theirs.metadata
    const status = this.#options.statusOf(theirs, ours, notes)
    const waitMs =
      (this.#writtenMs.get(name) ?? Number.NEGATIVE_INFINITY) + statusEveryMs - this.#options.ports.clock.monotonicMs()
    const isTurn = this.#options.told(theirs.status, status) !== undefined
    if (waitMs > 0 && !isTurn && mergePatch(theirs.status ?? {}, status) !== undefined) return waitMs
    await this.#writeStatus(theirs, status, signal)
    return undefined
  }

  async #refuse(theirs: F, why: Refusal, signal: AbortSignal): Promise<void> {
    const status = this.#options.withoutOurs(theirs, why)
    const next = await this.#annotate(theirs, why.refusal, 'ForeignRefused', signal)
    if (status && next) await this.#writeStatus(next, status, signal)
  }

  async #annotate(
    theirs: F,
    message: string | null,
    reason: 'ForeignNoted' | 'ForeignRefused',
    signal: AbortSignal,
  ): Promise<F | undefined> {
    if ((theirs.metadata.annotations?.[foreignMessage] ?? null) === message) return theirs
    if (message !== null) this.#say(theirs, 'Warning', reason, message)
    return await this.#patch(theirs, { metadata: { annotations: { [foreignMessage]: message } } }, signal)
  }

  async #writeStatus(theirs: F, status: object, signal: AbortSignal): Promise<void> {
    const change = mergePatch(theirs.status ?? {}, status)
    if (change === undefined) return
    const told = this.#options.told(theirs.status, status)
    await this.#patch(theirs, { status: change }, signal, 'status')
    this.#writtenMs.set(theirs.metadata.name, this.#options.ports.clock.monotonicMs())
    if (told) this.#say(theirs, told.type, told.reason, told.note)
  }

  async #patch(
    { metadata }: F,
    change: { readonly metadata?: object; readonly status?: unknown },
    signal: AbortSignal,
    subResource?: 'status',
  ): Promise<F | undefined> {
    const { ports, theirType, theirs } = this.#options
    const { name, uid, resourceVersion } = metadata
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
    try {
      const written = await ports.api.patch(theirType, { name }, { type: 'merge', body }, signal, subResource)
      theirs.learn(written)
      return written
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound')) throw error
      return undefined
    }
  }

  #say({ metadata }: F, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { apiVersion, kind } = this.#options.theirType
    const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
    this.#options.events.record({ regarding, type, reason, action: 'CarryOut', note: note.slice(0, 1000) })
  }
}
