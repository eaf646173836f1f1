// How a resource of another system is carried out by one of ours. Ours has a name derived from theirs and is owned by it, so
// whoever dies in between, the next makes the very same one, or finds it. That ours was seen is on record on theirs: one that
// is gone after that is not made again.

import type { KubeObject, ObjectMeta } from '../../api/kube.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import { nameFor } from '../../core/schedule/scheduled-update.ts'
import type { Refusal, Translated } from './translation.ts'

/** On theirs: the name of ours, once it was there. */
export const carriedBy = 'slipway.dev/update'
/** On theirs: why it cannot be carried out; not every status has room for that. */
export const foreignMessage = 'slipway.dev/message'

export interface CarryView<S extends object> {
  readonly theirs: ObjectMeta
  /** Finalizers that nobody else takes off. */
  readonly orphanFinalizers: readonly string[]
  /** Somebody else brought it to its end before we came. */
  readonly isOver: boolean
  readonly translated: Translated<S>
  readonly ours: (KubeObject & { readonly spec: S }) | undefined
  /** The fields of ours that follow theirs; the others are a person's. */
  readonly fields: readonly (keyof S & string)[]
  /** Those of them that cannot change now. */
  readonly fixed: readonly (keyof S & string)[]
  /** Whether ours must not begin anything new; undefined where that cannot be said. */
  readonly paused?: boolean
}

export type CarryAction<S extends object> =
  | { readonly action: 'rest' }
  /** It is being deleted: take these off. */
  | { readonly action: 'release'; readonly finalizers: readonly string[] }
  | { readonly action: 'make'; readonly name: string; readonly spec: S }
  | { readonly action: 'link'; readonly name: string }
  | { readonly action: 'edit'; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly action: 'refuse'; readonly why: Refusal }
  | { readonly action: 'gone' }
  /** Ours is as theirs wants it: say how it stands. */
  | { readonly action: 'tell'; readonly notes: readonly string[] }

export function carrierName({ name, uid }: ObjectMeta): string {
  return nameFor(name, uid.slice(0, 8))
}

export function decideCarry<S extends object>(view: CarryView<S>): CarryAction<S> {
  const { theirs, translated, ours } = view
  if (theirs.deletionTimestamp !== undefined) {
    const finalizers = (theirs.finalizers ?? []).filter((name) => !view.orphanFinalizers.includes(name))
    return finalizers.length === (theirs.finalizers ?? []).length
      ? { action: 'rest' }
      : { action: 'release', finalizers }
  }
  const linked = theirs.annotations?.[carriedBy]
  if (!ours) {
    if (linked !== undefined) return { action: 'gone' }
    // What we refused ourselves may have been put right since.
    if (view.isOver && theirs.annotations?.[foreignMessage] === undefined) return { action: 'rest' }
    if ('refusal' in translated) return { action: 'refuse', why: translated }
    const { spec } = translated
    const name = carrierName(theirs)
    return { action: 'make', name, spec: view.paused ? { ...spec, desiredState: 'Paused' } : spec }
  }
  if (linked !== ours.metadata.name) return { action: 'link', name: ours.metadata.name }
  const steered = pauseOf(view)
  if ('refusal' in translated) {
    if (steered) return { action: 'edit', spec: steered }
    return { action: 'tell', notes: [`its edit is not taken up: ${translated.refusal}`] }
  }
  const differing = view.fields.filter((field) => !equalJson(ours.spec[field], translated.spec[field]))
  const safe = differing.filter((field) => !view.fixed.includes(field))
  if (safe.length > 0 || steered) {
    const spec = Object.fromEntries(safe.map((field) => [field, fieldPatch(ours.spec[field], translated.spec[field])]))
    return { action: 'edit', spec: { ...spec, ...steered } }
  }
  return { action: 'tell', notes: [...translated.notes, ...waiting(differing)] }
}

/** What a merge patch of a field has to say: the field itself would leave parts of what was there. */
export function fieldPatch(before: unknown, after: unknown): unknown {
  return after === undefined ? null : before === undefined ? after : mergePatch(before, after)
}

function waiting(fields: readonly string[]): readonly string[] {
  if (fields.length === 0) return []
  return [`a change of ${fields.join(', ')} waits for the end of what runs now`]
}

/** Only a pause that came from theirs is lifted with theirs: a person may have paused ours. */
function pauseOf<S extends object>({ ours, paused }: CarryView<S>): Readonly<Record<string, unknown>> | undefined {
  if (!ours || paused === undefined) return undefined
  const state = 'desiredState' in ours.spec ? ours.spec.desiredState : undefined
  const isOurs = ours.metadata.annotations?.[pausedByTheirs] !== undefined
  if (paused && !isOurs && (state === undefined || state === 'Running')) return { desiredState: 'Paused' }
  if (!paused && isOurs) return { desiredState: state === 'Paused' ? null : state }
  return undefined
}

/** On ours: it was theirs that paused it. */
export const pausedByTheirs = 'slipway.dev/paused-by-owner'
