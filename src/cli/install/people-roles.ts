// Roles for people, bound to nobody: who is given which is the cluster's own affair.

import { approvalRight } from './approval-policy.ts'
import { hostCodeRight } from './host-code-policy.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { ourGroup, type Right, right } from './right.ts'
import { labelsOf, operatorName } from './rights.ts'

const shown = 'roles'
const read = { get: shown, list: shown, watch: shown }
const write = { create: shown, update: shown, patch: shown, delete: shown }

const viewerRights: readonly Right[] = [
  right(
    ourGroup,
    ['directupdates', 'scheduledupdates', 'updateschedules', 'nodeprofiles', 'maintenancepolicies', 'nodestates'],
    read,
    'sees what is wanted, how far it is, and why it waits',
  ),
  right('', ['nodes'], read, 'slipway status, nodes and why tell of nodes'),
  right('events.k8s.io', ['events'], read, 'sees what was told as Events'),
]

const editorRights: readonly Right[] = [
  ...viewerRights,
  right(
    ourGroup,
    ['directupdates', 'scheduledupdates', 'updateschedules'],
    write,
    'makes, changes, pauses, cancels and removes updates and schedules; those that mean root on hosts are refused',
  ),
  right(
    ourGroup,
    ['maintenancepolicies'],
    { create: shown, update: shown, patch: shown },
    'sets budgets, windows, freezes and the emergency stop; asks for backups. What means root on hosts is refused',
  ),
  right(
    ourGroup,
    ['nodestates'],
    { patch: shown },
    'asks for logs by an annotation; to write an order is refused, it means root on that host',
  ),
]

const approverRights: readonly Right[] = [
  ...viewerRights,
  right(
    ourGroup,
    [`directupdates/${approvalRight}`],
    { update: shown },
    'lets the next wave begin, or an update run outside of its windows',
  ),
  right(ourGroup, ['directupdates'], { patch: shown }, 'writes that word; to change anything else is refused'),
]

const hostAdminRights: readonly Right[] = [
  ...editorRights,
  right(
    ourGroup,
    [`directupdates/${hostCodeRight}`],
    { update: shown },
    '**root on every host**: scripts, programs, OS images, bundles, Jobs of hooks and gates, backup stores, maintenance jobs, Secrets sent to an address',
  ),
  right(ourGroup, ['nodeprofiles'], write, '**root on every host**: files, units, packages, kernel settings'),
]

/** In the operator's namespace. */
const hostAdminNamespaceRights: readonly Right[] = [
  right('', ['configmaps'], { get: shown, create: shown }, 'slipway update --script stores the script there'),
]

export interface PeopleRole {
  readonly name: string
  readonly rights: readonly Right[]
  readonly namespaceRights?: readonly Right[]
  /** A standard role that takes it over. */
  readonly aggregatedTo?: 'view'
}

export const peopleRoles: readonly PeopleRole[] = [
  { name: 'slipway-viewer', rights: viewerRights, aggregatedTo: 'view' },
  { name: 'slipway-editor', rights: editorRights },
  { name: 'slipway-approver', rights: approverRights },
  { name: 'slipway-host-admin', rights: hostAdminRights, namespaceRights: hostAdminNamespaceRights },
]

export function peopleManifests({ namespace }: InstallSettings): readonly Manifest[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rulesOf = (rights: readonly Right[]) => rights.map(({ rule }) => rule)
  const { 'app.kubernetes.io/name': product } = labelsOf(operatorName)
  return peopleRoles.flatMap(({ name, rights, namespaceRights, aggregatedTo }) => {
    const aggregation = aggregatedTo && { [`rbac.authorization.k8s.io/aggregate-to-${aggregatedTo}`]: 'true' }
    const labels = { 'app.kubernetes.io/name': product, ...aggregation }
    return [
      { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules: rulesOf(rights) },
      ...(namespaceRights
        ? [{ apiVersion, kind: 'Role', metadata: { name, namespace, labels }, rules: rulesOf(namespaceRights) }]
        : []),
    ]
  })
}
