// The right over another tool's DaemonSet, where the policy names its lock: that very object and no other.

import { InvalidArgumentError } from 'commander'
import { objectName } from '../../api/scalars.ts'
import type { InstallSettings, LockPlace, Manifest } from './manifest.ts'
import { labelsOf, operatorName } from './rights.ts'

const authorization = 'rbac.authorization.k8s.io'

export function lockRights({ namespace, locks = [] }: InstallSettings): readonly Manifest[] {
  return locks.flatMap((place) => {
    const metadata = {
      name: `${operatorName}-lock-${place.name}`,
      namespace: place.namespace,
      labels: labelsOf(operatorName),
    }
    const rule = { apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: [place.name] }
    return [
      {
        apiVersion: `${authorization}/v1`,
        kind: 'Role',
        metadata,
        rules: [{ ...rule, verbs: ['list', 'watch', 'patch'] }],
      },
      {
        apiVersion: `${authorization}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: authorization, kind: 'Role', name: metadata.name },
        subjects: [{ kind: 'ServiceAccount', name: operatorName, namespace }],
      },
    ]
  })
}

/** `kured=kube-system/kured`, as often as there are locks. */
export function lockPlaces(text: string, before: readonly LockPlace[] = []): readonly LockPlace[] {
  const [, namespace = '', name = ''] = /^(?:kured|kustodian)=([^/]+)\/([^/]+)$/.exec(text) ?? []
  if (objectName.safeParse(namespace).success && objectName.safeParse(name).success) {
    return [...before, { namespace, name }]
  }
  throw new InvalidArgumentError('It must be kured=NAMESPACE/DAEMONSET or kustodian=NAMESPACE/DAEMONSET.')
}
