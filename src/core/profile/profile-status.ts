// How a profile stands, from how the nodes it selects stand.

import type { UpdateCondition } from '../../api/direct-update.ts'
import type { NodeProfile, NodeProfileStatus, ProfilePhase } from '../../api/node-profile.ts'
import type { Reason } from '../../api/reason.ts'
import { mergeConditions } from '../update/progress.ts'

/** One node that the profile selects, or that still has something of it. */
export interface ProfileMember {
  readonly node: string
  readonly applied: boolean
  /** Why it is not applied yet, where something holds it up. */
  readonly waitsFor?: Reason | undefined
  readonly drifted: number
  readonly failed?: Reason | undefined
}

export interface ProfileView {
  readonly profile: NodeProfile
  readonly members: readonly ProfileMember[]
  /** Why nothing of it can be rolled out. */
  readonly refused: Reason | undefined
  /** It has changed, and waits for an update that names it. */
  readonly awaitsUpdate: boolean
  /** Why its next node does not start, where none is under work. */
  readonly waitingFor?: Reason | undefined
  readonly operationID: string | undefined
}

export function profileStatus(view: ProfileView, now: Date): NodeProfileStatus {
  const { profile, members, operationID } = view
  const phase = phaseOf(view)
  const { status, metadata } = profile
  return {
    observedGeneration: metadata.generation,
    phase,
    ...(operationID !== undefined && { operationID }),
    nodes: {
      total: members.length,
      applied: members.filter(({ applied }) => applied).length,
      drifted: members.filter(({ drifted }) => drifted > 0).length,
      failed: members.filter(({ failed }) => failed).length,
    },
    conditions: mergeConditions(
      status?.conditions ?? [],
      conditionsOf(view, phase),
      now.toISOString(),
      metadata.generation,
    ),
  }
}

function phaseOf({ profile, members, refused, awaitsUpdate }: ProfileView): ProfilePhase {
  if (profile.metadata.deletionTimestamp !== undefined) return 'Removing'
  if (refused) return 'Refused'
  if (members.some(({ failed }) => failed)) return 'Failed'
  if (awaitsUpdate) return 'Waiting'
  return members.every(({ applied }) => applied) ? 'Applied' : 'Applying'
}

function conditionsOf(
  { members, refused, awaitsUpdate, waitingFor, profile }: ProfileView,
  phase: ProfilePhase,
): readonly Omit<UpdateCondition, 'lastTransitionTime'>[] {
  const say = (type: string, holds: boolean, reason: string, message: string) => ({
    type,
    status: holds ? ('True' as const) : ('False' as const),
    reason,
    message,
  })
  const failed = members.find((member) => member.failed)
  const waiting = members.find((member) => member.waitsFor)
  const drifted = members.filter((member) => member.drifted > 0)
  const done = members.filter(({ applied }) => applied).length
  const progress = `${done} of ${members.length} nodes are as it wants`
  const update: Reason = {
    code: 'WaitingForUpdate',
    message: `create a DirectUpdate with spec.profile ${profile.metadata.name} to roll the change out`,
  }
  const obstacle = refused ?? failed?.failed ?? (awaitsUpdate ? update : (waiting?.waitsFor ?? waitingFor))
  const sentence = obstacle ? `${progress}: ${obstacle.message}` : progress
  const stalled = phase === 'Refused' || failed !== undefined
  const settled = phase === 'Applied' || stalled
  return [
    say('Accepted', !refused, refused?.code ?? 'Accepted', refused?.message ?? 'it can be applied'),
    say('Applied', phase === 'Applied', obstacle?.code ?? phase, sentence),
    say(
      'Drifted',
      drifted.length > 0,
      drifted.length > 0 ? 'Drifted' : phase,
      drifted.length > 0 ? `differing hosts: ${someNames(drifted)}` : 'no host differs from what was applied',
    ),
    say('Reconciling', !settled, phase, sentence),
    say('Stalled', stalled, obstacle?.code ?? phase, sentence),
  ]
}

function someNames(members: readonly ProfileMember[]): string {
  const names = members.slice(0, 5).map(({ node }) => node)
  return members.length > names.length
    ? `${names.join(', ')} and ${members.length - names.length} more`
    : names.join(', ')
}
