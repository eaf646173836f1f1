// The members of etcd as one host sees them, made from what each of them answered.

import type { EtcdMemberState } from '../../api/control-plane.ts'
import type { GatewayMember, GatewayStatus } from '../../api/etcd-gateway.ts'

/** What one member answered to a question for its status and to a read that all must agree on. */
export type Sighting =
  | { readonly seen: true; readonly status: GatewayStatus; readonly readProblem: string | undefined }
  | { readonly seen: false; readonly problem: string }

/** A member that lags so far is still being brought up to date. */
export const lagAllowed = 5_000

export function memberStates(
  members: readonly GatewayMember[],
  sightingOf: (id: string) => Sighting | undefined,
): readonly EtcdMemberState[] {
  const statuses = members.flatMap(({ ID }) => {
    const sighting = sightingOf(ID)
    return sighting?.seen ? [sighting.status] : []
  })
  // Its followers never know more than the leader.
  const newest = Math.max(0, ...statuses.map(({ raftIndex }) => Number(raftIndex)))
  return members.map((member) => memberState(member, sightingOf(member.ID), newest))
}

function memberState(
  { ID: id, name, isLearner: learner }: GatewayMember,
  sighting: Sighting | undefined,
  newest: number,
): EtcdMemberState {
  const known = { id, name: name.slice(0, 253), learner }
  const sick = (problem: string) => ({ healthy: false, problem: problem.slice(0, 512) })
  if (!sighting?.seen) return { ...known, leader: false, ...sick(sighting?.problem ?? 'it has not started yet') }
  const { status, readProblem } = sighting
  const behind = newest - Number(status.raftAppliedIndex)
  const problem =
    (status.header.member_id === id
      ? undefined
      : `another member, ${status.header.member_id}, answers at its address`) ??
    (status.leader === '0' ? 'it knows no leader' : undefined) ??
    readProblem ??
    (behind > lagAllowed ? `it is ${behind} entries behind` : undefined)
  return {
    ...known,
    leader: status.leader === id,
    version: status.version.slice(0, 64),
    dbBytes: Number(status.dbSize),
    ...(behind > lagAllowed && { behindBy: behind }),
    ...(problem === undefined ? { healthy: true } : sick(problem)),
  }
}

/** Who should lead when this member goes: the healthy voters, by name so that everybody comes to the same answer. */
export function successorsOf(leader: string, members: readonly EtcdMemberState[]): readonly EtcdMemberState[] {
  return members
    .filter(({ id, healthy, learner }) => id !== leader && healthy && !learner)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
