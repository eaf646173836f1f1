// What is to be done for one Update of Housekeeper. One is carried out at a time, the oldest first: two that name different
// images would otherwise leave some nodes with the one and some with the other.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import { type HousekeeperStatus, type HousekeeperUpdate, housekeeperResult } from '../../api/housekeeper.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { nameFor } from '../../core/schedule/scheduled-update.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import { fieldPatch } from './decide-carry.ts'
import { housekeeperFields } from './housekeeper.ts'
import type { Translated } from './translation.ts'

export interface CarriedUpdate {
  readonly theirs: HousekeeperUpdate
  readonly translated: Translated<DirectUpdateSpec>
  readonly ours: DirectUpdate | undefined
}

export interface Result extends HousekeeperStatus {
  readonly phase: string
  readonly carried?: string
}

export type TurnAction =
  | { readonly action: 'rest' }
  | { readonly action: 'make'; readonly name: string; readonly spec: DirectUpdateSpec }
  | { readonly action: 'edit'; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly action: 'tell'; readonly result: Result }

/** What cannot change while nodes are being worked on. */
const lasting: ReadonlySet<string> = new Set(['os', 'kubernetes', 'stamps'])
const atWork: ReadonlySet<string> = new Set(['InProgress', 'RequiresAttention', 'Paused'])

export function keyOfUpdate({ metadata }: HousekeeperUpdate): string {
  return `${metadata.namespace}/${metadata.name}`
}

export function oursName({ metadata }: HousekeeperUpdate): string {
  return nameFor(metadata.name, metadata.uid.slice(0, 8))
}

/** The one that is carried out now, or is next; undefined where it is nobody's. */
export function whoseTurn(all: readonly CarriedUpdate[]): HousekeeperUpdate | undefined {
  const running = all.find(({ ours }) => ours !== undefined && !isEndedPhase(ours.status?.phase))
  if (running) return running.theirs
  const wanting = all.filter((one) => wantsToStart(one)).map(({ theirs }) => theirs)
  return wanting.toSorted(byAge)[0]
}

function byAge(a: HousekeeperUpdate, b: HousekeeperUpdate): number {
  const order = a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp)
  return order === 0 ? keyOfUpdate(a).localeCompare(keyOfUpdate(b)) : order
}

function wantsToStart({ theirs, translated, ours }: CarriedUpdate): boolean {
  if (theirs.metadata.deletionTimestamp !== undefined || 'refusal' in translated) return false
  if (!ours) return theirs.metadata.annotations?.[housekeeperResult.carried] !== fingerprint(translated.spec)
  return differing(ours, translated.spec).length > 0
}

export function decideTurn(carried: CarriedUpdate, turn: HousekeeperUpdate | undefined): TurnAction {
  const { theirs, translated, ours } = carried
  if (theirs.metadata.deletionTimestamp !== undefined) return { action: 'rest' }
  if ('refusal' in translated) {
    if (ours) return { action: 'tell', result: standing(ours, [`its edit is not taken up: ${translated.refusal}`]) }
    return { action: 'tell', result: { phase: 'Refused', message: translated.refusal } }
  }
  const mark = fingerprint(translated.spec)
  const isTurn = turn?.metadata.uid === theirs.metadata.uid
  if (!ours) {
    if (theirs.metadata.annotations?.[housekeeperResult.carried] === mark)
      return { action: 'tell', result: gone(theirs, mark) }
    if (isTurn) return { action: 'make', name: oursName(theirs), spec: translated.spec }
    return { action: 'tell', result: { phase: 'Waiting', message: waitsFor(turn) } }
  }
  const isAtWork = atWork.has(ours.status?.phase ?? '')
  const open = differing(ours, translated.spec)
  const now = open.filter((field) => isTurn && !(isAtWork && lasting.has(field)))
  if (now.length > 0) {
    const patches = now.map((field) => [field, fieldPatch(ours.spec[field], translated.spec[field])])
    return { action: 'edit', spec: Object.fromEntries(patches) }
  }
  if (open.length === 0) return { action: 'tell', result: { ...standing(ours, translated.notes), carried: mark } }
  const end = `the end of what runs now; slipway cancel ${ours.metadata.name} ends it earlier`
  const waits = isTurn ? `its edit waits for ${end}` : `its edit ${waitsFor(turn)}`
  return { action: 'tell', result: standing(ours, [waits]) }
}

function differing(ours: DirectUpdate, spec: DirectUpdateSpec): readonly (typeof housekeeperFields)[number][] {
  return housekeeperFields.filter((field) => !equalJson(ours.spec[field], spec[field]))
}

function waitsFor(turn: HousekeeperUpdate | undefined): string {
  if (!turn) return 'waits until the nodes of an Update that was deleted are put back'
  return `waits for the end of Update ${keyOfUpdate(turn)}: one is carried out at a time`
}

/** A person deleted ours: that is a word, too, and holds until theirs says something else. */
function gone({ metadata }: HousekeeperUpdate, mark: string): Result {
  const update = metadata.annotations?.[housekeeperResult.update] ?? ''
  const message = `DirectUpdate ${update} was deleted; change spec to have it carried out again`
  return { phase: 'Gone', message, carried: mark }
}

function standing({ metadata, status = {} }: DirectUpdate, notes: readonly string[]): Result {
  const texts = [...notes, ...blockers(status.conditions ?? [])]
  return {
    phase: status.phase ?? 'Pending',
    update: metadata.name,
    ...(status.progress !== undefined && { progress: status.progress }),
    ...(texts.length > 0 && { message: texts.join('; ').slice(0, 2000) }),
  }
}

function blockers(conditions: NonNullable<NonNullable<DirectUpdate['status']>['conditions']>): readonly string[] {
  const isBad = (type: string, holds: string) =>
    type === 'Planned' ? holds === 'False' : (type === 'Blocked' || type === 'Failed') && holds === 'True'
  return [...new Set(conditions.filter(({ type, status }) => isBad(type, status)).map(({ message }) => message))]
}
