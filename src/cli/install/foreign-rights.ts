// The rights over kinds of other systems: only where they are to be carried out.

import { foreignKinds } from '../../api/foreign-kinds.ts'
import { housekeeperUpdates } from '../../api/housekeeper.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { ourGroup, type Right, right } from './right.ts'
import { labelsOf, operatorName } from './rights.ts'

const authorization = 'rbac.authorization.k8s.io'
const name = `${operatorName}-foreign`

/** In the operator's own namespace. */
export const foreignNamespaceRights: readonly Right[] = [
  right(
    '',
    ['configmaps'],
    { list: 'compat', watch: 'compat' },
    'sees requests for backups that CUPCAKE’s users make by ConfigMap',
  ),
]

/** Where CUPCAKE looks for the ConfigMap that names a bundle. */
export const foreignSystemRights: readonly Right[] = [
  right(
    '',
    ['configmaps'],
    { get: 'compat' },
    'reads the ConfigMap that a resource of CUPCAKE names for its bundle; it cannot list them',
  ),
]

/** Over the whole cluster. */
export const foreignRights: readonly Right[] = [
  ...[...new Set(foreignKinds.map(groupOf))].flatMap((group) => {
    const resources = foreignKinds.filter((kind) => groupOf(kind) === group).map(({ plural }) => plural)
    const flow = group === groupOf(housekeeperUpdates) ? 'housekeeper' : 'compat'
    return [
      right(
        group,
        resources,
        { list: flow, watch: flow, patch: flow },
        'reads what is wanted; says by an annotation which resource of ours carries it out, and takes off a finalizer that nobody else would',
      ),
      right(
        group,
        resources.map((plural) => `${plural}/status`),
        { patch: flow },
        'tells progress in the words of that system',
      ),
    ]
  }),
  right(
    ourGroup,
    ['scheduledupdates', 'updateschedules'],
    { create: 'compat', patch: 'compat' },
    'makes those that carry out the schedules of other systems, and passes edits on',
  ),
  right(
    ourGroup,
    ['maintenancepolicies'],
    { patch: 'compat' },
    'asks on the policy for a backup that somebody wants in the way of another system',
  ),
  right(
    'events.k8s.io',
    ['events'],
    { create: 'housekeeper', patch: 'housekeeper' },
    'tells of a resource that lives in a namespace by Events of that namespace',
  ),
]

export function foreignManifests({ namespace, foreign = false }: InstallSettings): readonly Manifest[] {
  if (!foreign) return []
  const metadata = { name, labels: labelsOf(operatorName) }
  return [
    { apiVersion: `${authorization}/v1`, kind: 'ClusterRole', metadata, rules: foreignRights.map(({ rule }) => rule) },
    {
      apiVersion: `${authorization}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: authorization, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: operatorName, namespace }],
    },
    ...roleIn(namespace, foreignNamespaceRights, namespace),
    ...roleIn('kube-system', foreignSystemRights, namespace),
  ]
}

function roleIn(where: string, rights: readonly Right[], namespace: string): readonly Manifest[] {
  const metadata = { name, labels: labelsOf(operatorName), namespace: where }
  return [
    { apiVersion: `${authorization}/v1`, kind: 'Role', metadata, rules: rights.map(({ rule }) => rule) },
    {
      apiVersion: `${authorization}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: authorization, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name: operatorName, namespace }],
    },
  ]
}

function groupOf({ apiVersion }: { readonly apiVersion: string }): string {
  return apiVersion.slice(0, apiVersion.indexOf('/'))
}
