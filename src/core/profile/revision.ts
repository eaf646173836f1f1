// Names the state of the profiles a roll-out is about, so that an operation started for another one is recognised as old.

import type { NodeProfile } from '../../api/node-profile.ts'
import { fingerprint } from '../fingerprint.ts'

const howFields = new Set(['nodeSelector', 'strategy', 'drift', 'rollout', 'retry'])

/**
 * A revision for each profile: it changes with what the profile itself wants, and with what those want that share a node with
 * it, since a node gets all of them at once. How a change is rolled out is not part of it.
 */
export function revisionsOf(
  profiles: readonly NodeProfile[],
  sharedBy: Iterable<readonly string[]>,
  sourceVersion: (profile: string) => string,
): ReadonlyMap<string, string> {
  const prints = new Map(profiles.map((profile) => [profile.metadata.name, printOf(profile, sourceVersion)]))
  const related = new Map<string, Set<string>>(
    profiles.map(({ metadata }) => [metadata.name, new Set([metadata.name])]),
  )
  for (const names of sharedBy) for (const name of names) for (const other of names) related.get(name)?.add(other)
  return new Map(
    [...related].map(([name, others]) => [
      name,
      fingerprint([...others].sort().map((other) => [other, prints.get(other) ?? 'gone'])),
    ]),
  )
}

function printOf({ metadata, spec }: NodeProfile, sourceVersion: (profile: string) => string): string {
  const wanted = Object.entries(spec).filter(([field]) => !howFields.has(field))
  return fingerprint([metadata.uid, metadata.deletionTimestamp !== undefined, wanted, sourceVersion(metadata.name)])
}
