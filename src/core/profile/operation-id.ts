// Roll-outs of a profile: `profile:NAME/REVISION-TURN`, with `:drain` behind the name where nodes are drained.

export const profilePrefix = 'profile:'

const pattern = /^profile:([^/:]+)(:drain)?\/([^-]+)-[0-9]+$/

export interface ProfileRun {
  readonly profile: string
  readonly drain: boolean
  readonly revision: string
}

export function profileOwner(profile: string, drain: boolean): string {
  return `${profilePrefix}${profile}${drain ? ':drain' : ''}`
}

export function profileRunOf(id: string): ProfileRun | undefined {
  const [, profile, drain, revision] = pattern.exec(id) ?? []
  return profile === undefined || revision === undefined ? undefined : { profile, drain: drain !== undefined, revision }
}

/** What all turns of a roll-out share; of any other operation its id. A node that failed in one turn has failed in the next. */
export function rollOutOf(id: string): string {
  return id.startsWith(profilePrefix) ? id.slice(0, id.lastIndexOf('-')) : id
}

/** By the id of an operation, or of an order of it. */
export function isDrainOperation(id: string): boolean {
  return /^profile:[^/:]+:drain\//.test(id)
}
