import type { ControlPlaneReport } from '../../api/control-plane.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'

/** Where a person says that there is no etcd, a host that finds none has nothing to wait for; one that is found counts all the same. */
export function asStated(
  report: ControlPlaneReport | undefined,
  datastore: MaintenancePolicySpec['datastore'],
): ControlPlaneReport | undefined {
  if (datastore !== 'Other' || report?.etcd.place !== 'None') return report
  return { ...report, etcd: { place: 'External', members: [], alarms: [] } }
}
