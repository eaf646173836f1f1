// The right over another tool's DaemonSet, where the policy names its lock: that very object and no other.

import { InvalidArgumentError } from 'commander'
import { objectName } from '../../api/scalars.ts'
import type { InstallSettings, LockPlace, Manifest } from './manifest.ts'
import { type Right, rightOver } from './right.ts'
import { labelsOf, operatorName } from './rights.ts'

const authorization = 'rbac.authorization.k8s.io'
/** They live where that DaemonSet does. */
export const lockPrefix = `${operatorName}-lock-`

/** In the namespace of that DaemonSet. */
export const lockRight = (daemonSet: string): Right =>
  rightOver(
    [daemonSet],
    'apps',
    ['daemonsets'],
    { list: 'budgets', watch: 'budgets', patch: 'budgets' },
    'sees who holds the lock of another tool, takes it and gives it back',
  )

export function lockRights({ namespace, locks = [] }: InstallSettings): readonly Manifest[] {
  return locks.flatMap((place) => {
    const metadata = {
      name: `${lockPrefix}${place.name}`,
      namespace: place.namespace,
      labels: labelsOf(operatorName),
    }
    return [
      {
        apiVersion: `${authorization}/v1`,
        kind: 'Role',
        metadata,
        rules: [lockRight(place.name).rule],
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
