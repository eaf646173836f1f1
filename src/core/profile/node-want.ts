// What all profiles together want of one node, compared with what was applied there last.

import { type DesiredState, emptyState } from '../../api/desired-state.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { ProfileFile } from '../../api/profile-items.ts'
import type { Reason } from '../../api/reason.ts'
import { canonicalJson } from '../fingerprint.ts'
import { desiredState } from './desired-state.ts'
import { changesBetween, disturbance, type Level } from './disturbance.ts'
import { appliedWishes, type Material, type Wishes, wishesOf } from './wishes.ts'

export type Found = { readonly material: Material } | { readonly reason: Reason }

export interface WantView {
  /** Those that select the node. */
  readonly profiles: readonly NodeProfile[]
  /** What was applied last; undefined when it is not known any more. */
  readonly before: DesiredState | undefined
  /** A profile with rollout ByUpdate whose update is at work on this node. */
  readonly released?: string | undefined
  readonly find: (profile: NodeProfile, file: ProfileFile) => Found
}

export type Want =
  | { readonly ok: true; readonly state: DesiredState; readonly text: string }
  | { readonly ok: false; readonly reason: Reason; readonly profiles: readonly string[] }

export function nodeWant({ profiles, before, released, find }: WantView): Want {
  const wishes: Wishes[] = []
  for (const profile of profiles) {
    const { name } = profile.metadata
    if (profile.spec.rollout === 'ByUpdate' && released !== name) {
      wishes.push(appliedWishes(profile, before ?? emptyState))
      continue
    }
    const missing: Reason[] = []
    const made = wishesOf(profile, (file) => {
      const found = find(profile, file)
      if ('material' in found) return found.material
      missing.push(found.reason)
      return { content: '' }
    })
    const [reason] = missing
    if (reason) return { ok: false, reason, profiles: [name] }
    wishes.push(made)
  }
  return desiredState(wishes)
}

export type Move =
  /** Nothing is to be done. */
  | { readonly move: 'none' }
  /** `profile`: the one whose change it is, by whose strategy it is rolled out. */
  | { readonly move: 'apply'; readonly profile: string; readonly level: Level; readonly because: string }
  | { readonly move: 'refused'; readonly reason: Reason; readonly profiles: readonly string[] }

/**
 * How a node gets from what was applied to what is wanted. `asksForDrain`: its agent has found more to put right than what
 * changes, and that disturbs the node. `all`: those that do not select it any more say what it takes to be without them.
 */
export function moveBetween(
  before: DesiredState | undefined,
  after: DesiredState,
  profiles: readonly NodeProfile[],
  asksForDrain = false,
  all: readonly NodeProfile[] = profiles,
): Move {
  if (before && canonicalJson(before) === canonicalJson(after)) return { move: 'none' }
  const known = new Map(all.map((profile) => [profile.metadata.name, profile]))
  const found = disturbance(before ?? emptyState, after, (name) => known.get(name)?.spec.disruption ?? 'Auto')
  if (!found.ok) return { move: 'refused', reason: found.reason, profiles: found.profiles }
  const neverDrains = profiles.length > 0 && undrainedProfiles(profiles).length === profiles.length
  const hasDrifted = asksForDrain && found.level === 'None' && !neverDrains
  // What is gone from the record of the cluster may have been anything.
  const level: Level = (before && !hasDrifted) || found.level === 'Reboot' ? found.level : 'Drain'
  const because = before ? (hasDrifted ? drifted : found.because) : 'what was applied before is not known any more'
  return { move: 'apply', profile: firstOf(before ?? emptyState, after) ?? goneProfile, level, because }
}

const drifted = 'the host has drifted in what only a drained node may have put right'

/** Those whose items may disturb a node that was not drained. */
export function undrainedProfiles(profiles: readonly NodeProfile[]): readonly string[] {
  return profiles.filter(({ spec }) => spec.disruption === 'None').map(({ metadata }) => metadata.name)
}

/** Stands for profiles nobody knows any more. */
export const goneProfile = 'gone'

/** The first by name of those whose items change; where none does, of those that want something. */
function firstOf(before: DesiredState, after: DesiredState): string | undefined {
  const changed = changesBetween(before, after).map(({ profile }) => profile)
  const names = changed.length > 0 ? changed : [...profilesOf(before), ...profilesOf(after)]
  return [...names].sort()[0]
}

/** Those that anything in it came from. */
export function profilesOf(state: DesiredState): ReadonlySet<string> {
  const { repositories, packages, files, units, sysctls, kernelArguments } = state
  const items = [...repositories, ...packages, ...files, ...units, ...sysctls, ...kernelArguments]
  return new Set(items.map(({ profile }) => profile))
}
