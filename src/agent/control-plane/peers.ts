// The other members of etcd, asked by the host that is about to take its own one away. What cannot be told counts as unhealthy.

import type { GatewayMember } from '../../api/etcd-gateway.ts'
import { type EtcdPeers, etcdPeersSchema } from '../../api/etcd-peers.ts'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { memberStates } from '../../core/control-plane/member-states.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import type { StepContext } from '../drivers/driver.ts'
import { findEtcd, gatewayOf } from './find-etcd.ts'
import { sightingsOf } from './look-at-etcd.ts'

const peersNote = 'etcd-peers'

type Asking = Pick<StepContext, 'host' | 'notes'>

/** Written while the node still works. Throws StagingFailed while this host's member does not answer. */
export async function notePeers({ host, notes }: Asking, requests: SecureRequests, signal: AbortSignal): Promise<void> {
  const access = await findEtcd(host, signal)
  if (access?.own === undefined) return
  try {
    const others = await othersNow(await gatewayOf(host, requests, access), access.own, signal)
    await notes.write(peersNote, { access, others })
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError) || error.code !== 'CannotReach') throw error
    throw new SlipwayError('StagingFailed', `etcd cannot be asked for its members: ${error.message}`, { cause: error })
  }
}

/** Why this host's member must stay; undefined when all others are well, or none runs here. */
export async function peerObstacle(
  { host, notes }: Asking,
  requests: SecureRequests,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const noted = await notes.read(peersNote, etcdPeersSchema)
  const found = await findEtcd(host, signal)
  // In the middle of kubeadm's work a manifest may be missing.
  const access = found?.own === undefined ? (noted?.access ?? found) : found
  if (access?.own === undefined) return undefined
  const gateway = await gatewayOf(host, requests, access)
  const others = await othersOr(() => othersNow(gateway, access.own ?? '', signal), noted, signal)
  if ('code' in others) return others
  const sightings = await sightingsOf(gateway, others, signal)
  for (const { name, id, learner, healthy, problem } of memberStates(others, (each) => sightings.get(each))) {
    const member = `member ${name === '' ? id : name} of etcd`
    if (learner) return { code: 'EtcdLearner', message: `${member} is a learner that is still catching up` }
    if (!healthy) return { code: 'EtcdUnhealthy', message: `${member} is not healthy: ${problem ?? 'no reason given'}` }
  }
  return undefined
}

type Others = EtcdPeers['others']

/** Its own member may be down already, cut off in the middle: then as they were. */
async function othersOr(
  ask: () => Promise<Others>,
  noted: EtcdPeers | undefined,
  signal: AbortSignal,
): Promise<Others | Reason> {
  try {
    return await ask()
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    return noted?.others ?? { code: 'EtcdUnknown', message: `etcd cannot be asked for its members: ${error.message}` }
  }
}

async function othersNow(
  gateway: Awaited<ReturnType<typeof gatewayOf>>,
  own: string,
  signal: AbortSignal,
): Promise<Others> {
  const { header } = await gateway.status(own, signal)
  const members: readonly GatewayMember[] = await gateway.members(own, signal)
  return members
    .filter(({ ID }) => ID !== header.member_id)
    .map(({ ID, name, clientURLs, isLearner }) => ({ ID, name, clientURLs, isLearner }))
}
