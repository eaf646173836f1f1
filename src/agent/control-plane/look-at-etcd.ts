// One look at etcd from this host: who its members are, and how each of them answers.

import { type EtcdReport, maxEtcdAlarms, maxEtcdMembers } from '../../api/control-plane.ts'
import type { GatewayAlarm, GatewayMember } from '../../api/etcd-gateway.ts'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { EtcdAccess } from '../../core/control-plane/etcd-access.ts'
import { memberStates, type Sighting } from '../../core/control-plane/member-states.ts'
import type { Host } from '../../ports/host.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import type { EtcdGateway } from './etcd-gateway.ts'
import { findEtcd, gatewayOf } from './find-etcd.ts'
import { problemOf } from './problem-of.ts'

const notFound =
  'nothing on this host tells where etcd is: no static pod of kube-apiserver or etcd, no etcd.service, none of k3s, RKE2 or k0s; if the cluster has none, set datastore: Other in MaintenancePolicy/default'

export async function lookAtEtcd(host: Host, requests: SecureRequests, signal: AbortSignal): Promise<EtcdReport> {
  const access = await findEtcd(host, signal).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    return unknown(`nothing tells where etcd is just now: ${error.message}`)
  })
  // It may run here, and nobody may take it for gone: the host is asked again until it tells.
  if (access && 'code' in access) return { place: 'Local', members: [], alarms: [], reason: access }
  if (!access) return { place: 'None', members: [], alarms: [], reason: unknown(notFound) }
  const place = access.own === undefined ? 'External' : 'Local'
  const gateway = await gatewayOf(host, requests, access)
  try {
    const { members, at } = await askMembers(gateway, access, signal)
    const status = access.own === undefined ? undefined : await gateway.status(access.own, signal)
    const own = status?.header.member_id
    const alarms = await gateway.alarms(at, signal)
    const sightings = await sightingsOf(gateway, members, signal)
    const states = memberStates(members.slice(0, maxEtcdMembers), (id) => sightings.get(id))
    return {
      place,
      ...(own !== undefined && { member: own }),
      // Whether it leads it has said itself, also where it does not answer at the address that the others know.
      members: states.map((state) =>
        state.id === own && !sightings.get(own)?.seen ? { ...state, leader: status?.leader === own } : state,
      ),
      alarms: alarms.slice(0, maxEtcdAlarms).map((alarm) => alarmText(alarm, members)),
    }
  } catch (error) {
    if (signal.aborted) throw error
    const message = `etcd cannot be asked: ${error instanceof Error ? error.message : String(error)}`
    return { place, members: [], alarms: [], reason: unknown(message) }
  }
}

/** As `NOSPACE of cp2`: people know members by their names. */
function alarmText({ alarm, memberID }: GatewayAlarm, members: readonly GatewayMember[]): string {
  const name = members.find(({ ID }) => ID === memberID)?.name || memberID
  return `${alarm} of ${name}`.slice(0, 64)
}

/** Any of them knows all. */
async function askMembers(
  gateway: EtcdGateway,
  { endpoints }: EtcdAccess,
  signal: AbortSignal,
): Promise<{ readonly members: readonly GatewayMember[]; readonly at: string }> {
  let last: unknown
  for (const at of endpoints) {
    try {
      return { members: await gateway.members(at, signal), at }
    } catch (error) {
      if (signal.aborted) throw error
      last = error
    }
  }
  throw last
}

export async function sightingsOf(
  gateway: EtcdGateway,
  members: readonly Pick<GatewayMember, 'ID' | 'clientURLs' | 'isLearner'>[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sighting>> {
  const seen = await Promise.all(
    members.map(async (member) => [member.ID, await sightingOf(gateway, member, signal)] as const),
  )
  return new Map(seen.flatMap(([id, sighting]) => (sighting ? [[id, sighting]] : [])))
}

async function sightingOf(
  gateway: EtcdGateway,
  { clientURLs, isLearner }: Pick<GatewayMember, 'clientURLs' | 'isLearner'>,
  signal: AbortSignal,
): Promise<Sighting | undefined> {
  let problem: string | undefined
  for (const endpoint of clientURLs) {
    try {
      const status = await gateway.status(endpoint, signal)
      // A learner serves no such reads.
      const read = isLearner ? undefined : await problemOf(() => gateway.readAgreed(endpoint, signal), signal)
      return { seen: true, status, readProblem: read }
    } catch (error) {
      if (signal.aborted) throw error
      problem = error instanceof Error ? error.message : String(error)
    }
  }
  return problem === undefined ? undefined : { seen: false, problem }
}

function unknown(message: string): Reason {
  return { code: 'EtcdUnknown', message: message.slice(0, 4000) }
}
