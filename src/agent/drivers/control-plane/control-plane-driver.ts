// Before a control-plane host is disturbed another member of etcd leads: a leader that goes away stops every write until the
// others have noticed and elected one.

import type { EtcdMemberState } from '../../../api/control-plane.ts'
import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { successorsOf } from '../../../core/control-plane/member-states.ts'
import type { SecureRequests } from '../../../ports/secure-requests.ts'
import { findEtcd, gatewayOf } from '../../control-plane/find-etcd.ts'
import { lookAtEtcd } from '../../control-plane/look-at-etcd.ts'
import { notePeers } from '../../control-plane/peers.ts'
import type { ActStep, Driver, StepContext } from '../driver.ts'
import { lookUntil } from '../look-until.ts'

/** An election is over in seconds. */
const patience = { tries: 5, pauseSeconds: 2 }

export function controlPlaneDriver(requests: SecureRequests): Driver {
  return {
    name: 'control-plane',
    concerns: (order) => order.role === 'ControlPlane' && mayDisturb(order),
    inspect: () => Promise.resolve({}),
    stage: async (staging, signal): Promise<Reason | undefined> => {
      await notePeers(staging, requests, signal)
      return undefined
    },
    steps: () => [moveLeader(requests)],
    // Whoever leads, leads well.
    undo: { possible: true, steps: () => [] },
  }
}

/** Files and settings alone take nothing away. */
function mayDisturb({ work }: Order): boolean {
  const { kubernetes, os, script, jobs, binary, maintenance, reboot } = work
  return (
    Boolean(kubernetes ?? os ?? script ?? binary ?? maintenance) ||
    (jobs ?? []).length > 0 ||
    (reboot !== undefined && reboot !== 'Never')
  )
}

function moveLeader(requests: SecureRequests): ActStep {
  return {
    name: 'move-etcd-leader',
    disruptive: false,
    attempts: 5,
    brief: true,
    holds: async (context, signal) => {
      const { leads, silence } = await leadership(context, requests, signal)
      return !leads && silence === undefined
    },
    act: (context, signal) => handOver(context, requests, signal),
    missing: async (context, signal) => {
      let leads = false
      const look = async () => {
        const seen = await leadership(context, requests, signal)
        leads = seen.leads
        return leads ? 'the member of this host still leads etcd' : seen.silence
      }
      const missing = await lookUntil(context.host, look, patience, signal)
      return leads ? missing : undefined
    },
  }
}

interface Leadership {
  readonly leads: boolean
  readonly own: EtcdMemberState | undefined
  readonly members: readonly EtcdMemberState[]
  /** Why it is not known. */
  readonly silence: string | undefined
}

async function leadership({ host }: StepContext, requests: SecureRequests, signal: AbortSignal): Promise<Leadership> {
  const { member, members, reason, place } = await lookAtEtcd(host, requests, signal)
  const own = members.find(({ id }) => id === member)
  // A member that does not answer leads nobody, and one alone has nobody to hand over to.
  const leads = own?.leader === true && members.filter(({ learner }) => !learner).length > 1
  return { leads, own, members, silence: place === 'Local' ? reason?.message : undefined }
}

async function handOver(context: StepContext, requests: SecureRequests, signal: AbortSignal): Promise<void> {
  let seen: Leadership | undefined
  const look = async () => {
    seen = await leadership(context, requests, signal)
    return seen.silence
  }
  const silent = await lookUntil(context.host, look, patience, signal)
  // One that is down has no need to, and a slow one must not keep its host from being mended.
  if (silent !== undefined) {
    await context.warn(`whether this host’s member leads etcd was not told, so it did not hand over: ${silent}`)
    return
  }
  if (!seen?.leads || !seen.own) return
  const { own, members } = seen
  const access = await findEtcd(context.host, signal)
  if (access?.own === undefined) return
  const [successor] = successorsOf(own.id, members)
  if (!successor) {
    throw new SlipwayError('EtcdUnhealthy', 'this host’s member leads etcd, and no other is healthy enough to lead', {
      nextStep: 'bring the other members back',
    })
  }
  const gateway = await gatewayOf(context.host, requests, access)
  await gateway.moveLeader(access.own, successor.id, signal)
  context.log.info('etcd is led by another member now', { order: context.order.id, member: successor.name })
}
