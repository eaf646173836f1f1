// Whether a member of etcd is one to take a snapshot of: what it gives must be what the cluster has agreed on.

import type { GatewayAlarm, GatewayStatus } from '../../api/etcd-gateway.ts'
import type { Reason } from '../../api/reason.ts'

export interface MemberLook {
  readonly name: string
  readonly isLearner: boolean
  /** Asked after all others: what it has applied then is at least what they had before. */
  readonly status: GatewayStatus
  /** Why it could not read what the majority has agreed on; undefined = it could. */
  readonly readProblem: string | undefined
}

export interface OtherMember {
  readonly name: string
  readonly appliedIndex: string
}

/** Undefined = it is. */
export function whyNotSaved(
  { name, isLearner, status, readProblem }: MemberLook,
  others: readonly OtherMember[],
  alarms: readonly GatewayAlarm[],
): Reason | undefined {
  const [alarm] = alarms
  if (alarm) {
    const message = `etcd has the alarm ${alarm.alarm}, so no backup is made: free its space or repair the member, then disarm it`
    return { code: 'EtcdAlarm', message }
  }
  if (isLearner) {
    return { code: 'EtcdLearner', message: `the member ${name} of etcd is a learner, and has not all of the data yet` }
  }
  const ahead = others.find(({ appliedIndex }) => BigInt(appliedIndex) > BigInt(status.raftAppliedIndex))
  if (ahead) {
    const behind = BigInt(ahead.appliedIndex) - BigInt(status.raftAppliedIndex)
    const message = `the member ${name} of etcd is ${behind} entries behind ${ahead.name}; a backup of it would lack what was written since`
    return { code: 'EtcdLagging', message }
  }
  if (readProblem !== undefined || status.leader === '0') {
    const message = `the member ${name} of etcd has no majority behind it: ${readProblem ?? 'it knows no leader'}`
    return { code: 'EtcdUnhealthy', message: message.slice(0, 4000) }
  }
  return undefined
}
