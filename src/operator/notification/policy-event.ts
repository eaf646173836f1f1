import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import type { RecordedEvent } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** An Event about the one policy. */
export function policyEvent(
  { policy }: Cluster,
  type: RecordedEvent['type'],
  { code, message }: Reason,
  action: string,
): RecordedEvent {
  const { apiVersion, kind } = maintenancePolicies
  const uid = policy?.metadata.uid
  const regarding = { apiVersion, kind, name: policyName, ...(uid !== undefined && { uid }) }
  return { regarding, type, reason: code, action, note: message.slice(0, 1000) }
}
