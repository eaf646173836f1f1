// The least rights that do: what is not needed is not here. The agent has none over nodes, pods or secrets.

import { gateRoleLabel } from '../../core/gates/gate.ts'
import { kindsThatGo } from '../../core/preflight/removed-apis.ts'
import type { InstallSettings, Manifest } from './manifest.ts'

export interface ResourceRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export interface PageRule {
  readonly nonResourceURLs: readonly string[]
  readonly verbs: readonly string[]
}

export type Rule = ResourceRule | PageRule

/** A rule, and what would not work without it. */
export interface Right {
  readonly rule: Rule
  readonly why: string
}

export const operatorName = 'slipway-operator'
export const agentName = 'slipway-agent'
type Account = typeof operatorName | typeof agentName

const read = ['get', 'list', 'watch'] as const
const ourGroup = 'slipway.dev'

const right = (group: string, resources: readonly string[], verbs: readonly string[], why: string): Right => ({
  rule: { apiGroups: [group], resources, verbs },
  why,
})

/** A page of the API server that is no resource. */
const page = (path: string, why: string): Right => ({ rule: { nonResourceURLs: [path], verbs: ['get'] }, why })

/** Over the whole cluster. */
export const operatorClusterRights: readonly Right[] = [
  right(
    '',
    ['nodes'],
    [...read, 'patch'],
    'sees which nodes are there, Ready and cordoned; cordons and uncordons by patch',
  ),
  right(
    '',
    ['pods'],
    ['list', 'watch'],
    'sees which pods are left on a node that is being drained; reckons before an update whether they fit elsewhere',
  ),
  right('', ['pods/eviction'], ['create'], 'pods go by eviction only, so that the API server honours their budgets'),
  right(
    'policy',
    ['poddisruptionbudgets'],
    ['list', 'watch'],
    'asks for an eviction only when the budget allows it, and names the budget that does not',
  ),
  right(
    'admissionregistration.k8s.io',
    ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    ['list'],
    'sees before an update which admission webhooks would stand in its way',
  ),
  right(
    'discovery.k8s.io',
    ['endpointslices'],
    ['list'],
    'sees whether such a webhook has anybody to answer, and where',
  ),
  ...[...kindsThatGo()].map(([group, kinds]) =>
    right(
      group,
      kinds,
      ['list'],
      'finds before an update objects that are kept through an API that the target version does not serve any more',
    ),
  ),
  page('/metrics', 'reads which deprecated APIs were asked for, before an update to a version without them'),
  right(
    '',
    ['pods'],
    ['delete'],
    'deletes a pod in spite of its budget only where the drain settings say Force; that is on record and an Event',
  ),
  right(
    'storage.k8s.io',
    ['volumeattachments'],
    ['list', 'watch'],
    'waits until the volumes of the pods that left a node are detached',
  ),
  right(
    '',
    ['persistentvolumeclaims'],
    ['get'],
    'tells volumes of pods that stay on a node from those of pods that left',
  ),
  right(ourGroup, ['directupdates'], [...read, 'patch'], 'reads what is wanted; its finalizer is set by patch'),
  right(
    ourGroup,
    ['nodeprofiles'],
    [...read, 'patch'],
    'reads what hosts should have; its finalizer is set by patch, so that removal takes back what was added',
  ),
  right(
    ourGroup,
    ['maintenancepolicies'],
    [...read, 'create'],
    'reads budgets and defaults; makes the policy where there is none: the ledger stands on it',
  ),
  right(
    ourGroup,
    ['nodestates'],
    [...read, 'create', 'patch', 'delete'],
    'one a node: writes the work order there, and removes what belongs to a node that is gone',
  ),
  right(
    ourGroup,
    ['directupdates/status', 'maintenancepolicies/status', 'nodeprofiles/status', 'nodestates/status'],
    ['patch'],
    'tells progress, books slots in the ledger, remembers where each node stands',
  ),
]

/** In the operator's own namespace. */
export const operatorNamespaceRights: readonly Right[] = [
  right('coordination.k8s.io', ['leases'], [...read, 'create', 'update'], 'two replicas agree by a Lease on who acts'),
  right(
    '',
    ['configmaps'],
    ['get', 'list', 'create', 'patch', 'delete'],
    'makes the immutable copy of a script or desired state that the agents fetch, ties it to its owner, and removes it when no node uses it any more',
  ),
  right(
    '',
    ['secrets'],
    ['get'],
    'reads the Secrets that files of NodeProfiles name, to seal them to the key of each host, and those that gates name as their token; it cannot list them',
  ),
  right('batch', ['cronjobs'], ['get'], 'reads the template of a Job that a gate or hook names'),
  right(
    'batch',
    ['jobs'],
    ['list', 'watch', 'create'],
    'runs the Jobs of gates and hooks, and sees how they end; it watches only those it made',
  ),
]

/** Where kubelets keep their heartbeat. */
export const nodeLeaseRights: readonly Right[] = [
  right(
    'coordination.k8s.io',
    ['leases'],
    ['list', 'watch'],
    'a node counts as healthy again only when its kubelet renewed its Lease after the restart',
  ),
]

/** Where the cluster's own controllers elect a leader. */
export const controllerLeaseRights: readonly Right[] = [
  right(
    'coordination.k8s.io',
    ['leases'],
    ['list', 'watch'],
    'after a control-plane node was restarted, waits for the kube-controller-manager to lead again before the next drain',
  ),
]

/** Where events about cluster-scoped objects live. */
export const eventRights: readonly Right[] = [
  right('events.k8s.io', ['events'], ['create', 'patch'], 'tells what happens to nodes and updates as Events'),
]

export const agentClusterRights: readonly Right[] = [
  right(
    ourGroup,
    ['nodestates'],
    read,
    'watches the work order of its own node; RBAC cannot say "its own", the admission policy fences what it writes',
  ),
  right(ourGroup, ['nodestates/status'], ['patch'], 'reports what became of the order, in its own half of the status'),
]

export const agentNamespaceRights: readonly Right[] = [
  right('', ['configmaps'], ['get'], 'fetches the script or desired state that an order names by its SHA-256'),
]

export function operatorRights({ namespace }: InstallSettings): readonly Manifest[] {
  const subject = account(operatorName, namespace)
  return [
    serviceAccount(operatorName, namespace),
    clusterRole(operatorName, operatorClusterRights),
    clusterRoleBinding(operatorName, subject),
    role(operatorName, namespace, operatorNamespaceRights),
    roleBinding(operatorName, namespace, subject),
    role(operatorName, 'kube-node-lease', nodeLeaseRights),
    roleBinding(operatorName, 'kube-node-lease', subject),
    role(operatorName, 'kube-system', controllerLeaseRights),
    roleBinding(operatorName, 'kube-system', subject),
    role(operatorName, 'default', eventRights),
    roleBinding(operatorName, 'default', subject),
    gateRole,
    clusterRoleBinding(gateRoleName, subject),
  ]
}

const gateRoleName = 'slipway-gates'

/** Empty as it comes: what gates on other kinds read is added by whoever wants them, with a ClusterRole of this label. */
const gateRole: Manifest = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: gateRoleName, labels: { 'app.kubernetes.io/name': 'slipway' } },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [gateRoleLabel]: 'true' } }] },
  rules: [],
}

export function agentRights({ namespace, hostService = false }: InstallSettings): readonly Manifest[] {
  const subject = hostService ? kubelets : account(agentName, namespace)
  return [
    ...(hostService ? [] : [serviceAccount(agentName, namespace)]),
    clusterRole(agentName, agentClusterRights),
    clusterRoleBinding(agentName, subject),
    role(agentName, namespace, agentNamespaceRights),
    roleBinding(agentName, namespace, subject),
  ]
}

/** The operator knows its own pods by these (`component` is operator or agent). */
export const labelsOf = (name: Account) => ({
  'app.kubernetes.io/name': 'slipway',
  'app.kubernetes.io/component': name === operatorName ? 'operator' : 'agent',
})

const authorization = 'rbac.authorization.k8s.io'

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

/** Every kubelet, and so every agent that uses its host's credentials; the admission policy tells them apart. */
const kubelets: Subject = { kind: 'Group', apiGroup: authorization, name: 'system:nodes' }

function account(name: Account, namespace: string): Subject {
  return { kind: 'ServiceAccount', name, namespace }
}

function serviceAccount(name: Account, namespace: string): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: labelsOf(name) } }
}

function clusterRole(name: Account, rights: readonly Right[]): Manifest {
  const rules = rights.map(({ rule }) => rule)
  return { apiVersion: `${authorization}/v1`, kind: 'ClusterRole', metadata: { name, labels: labelsOf(name) }, rules }
}

function clusterRoleBinding(name: Account | typeof gateRoleName, subject: Subject): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: labelsOf(name === agentName ? agentName : operatorName) },
    roleRef: { apiGroup: authorization, kind: 'ClusterRole', name },
    subjects: [subject],
  }
}

function role(name: Account, namespace: string, rights: readonly Right[]): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'Role',
    metadata: { name, namespace, labels: labelsOf(name) },
    rules: rights.map(({ rule }) => rule),
  }
}

function roleBinding(name: Account, namespace: string, subject: Subject): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace, labels: labelsOf(name) },
    roleRef: { apiGroup: authorization, kind: 'Role', name },
    subjects: [subject],
  }
}
