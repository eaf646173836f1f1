// The least rights that do: what is not needed is not here. The agent has none over nodes, pods or secrets.

import type { InstallSettings, Manifest } from './manifest.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export const operatorName = 'slipway-operator'
export const agentName = 'slipway-agent'
type Account = typeof operatorName | typeof agentName

const read = ['get', 'list', 'watch'] as const
const ourGroup = 'slipway.dev'

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources,
  verbs,
})

/** Over the whole cluster. */
export const operatorClusterRules: readonly Rule[] = [
  rule('', ['nodes'], [...read, 'patch']),
  // Pods go by eviction only, so that the API server honours their budgets.
  rule('', ['pods'], ['list', 'watch']),
  rule('', ['pods/eviction'], ['create']),
  rule('policy', ['poddisruptionbudgets'], ['list', 'watch']),
  rule(ourGroup, ['directupdates'], [...read, 'patch']),
  rule(ourGroup, ['maintenancepolicies'], [...read, 'create']),
  rule(ourGroup, ['nodestates'], [...read, 'create', 'patch', 'delete']),
  rule(ourGroup, ['directupdates/status', 'maintenancepolicies/status', 'nodestates/status'], ['patch']),
]

/** In the operator's own namespace. */
export const operatorNamespaceRules: readonly Rule[] = [
  rule('coordination.k8s.io', ['leases'], [...read, 'create', 'update']),
  // It makes the immutable copy of a script that the agents fetch, and ties it to its update.
  rule('', ['configmaps'], ['get', 'create', 'patch']),
]

/** Where kubelets keep their heartbeat. */
export const nodeLeaseRules: readonly Rule[] = [rule('coordination.k8s.io', ['leases'], ['list', 'watch'])]

/** Where events about cluster-scoped objects live. */
export const eventRules: readonly Rule[] = [rule('events.k8s.io', ['events'], ['create', 'patch'])]

export const agentClusterRules: readonly Rule[] = [
  rule(ourGroup, ['nodestates'], read),
  rule(ourGroup, ['nodestates/status'], ['patch']),
]

export const agentNamespaceRules: readonly Rule[] = [rule('', ['configmaps'], ['get'])]

export function operatorRights({ namespace }: InstallSettings): readonly Manifest[] {
  return [
    serviceAccount(operatorName, namespace),
    clusterRole(operatorName, operatorClusterRules),
    clusterRoleBinding(operatorName, namespace),
    role(operatorName, namespace, operatorNamespaceRules),
    roleBinding(operatorName, namespace, namespace),
    role(operatorName, 'kube-node-lease', nodeLeaseRules),
    roleBinding(operatorName, 'kube-node-lease', namespace),
    role(operatorName, 'default', eventRules),
    roleBinding(operatorName, 'default', namespace),
  ]
}

export function agentRights({ namespace }: InstallSettings): readonly Manifest[] {
  return [
    serviceAccount(agentName, namespace),
    clusterRole(agentName, agentClusterRules),
    clusterRoleBinding(agentName, namespace),
    role(agentName, namespace, agentNamespaceRules),
    roleBinding(agentName, namespace, namespace),
  ]
}

/** The operator knows its own pods by these (`component` is operator or agent). */
export const labelsOf = (name: Account) => ({
  'app.kubernetes.io/name': 'slipway',
  'app.kubernetes.io/component': name === operatorName ? 'operator' : 'agent',
})

const authorization = 'rbac.authorization.k8s.io'

function serviceAccount(name: Account, namespace: string): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: labelsOf(name) } }
}

function clusterRole(name: Account, rules: readonly Rule[]): Manifest {
  return { apiVersion: `${authorization}/v1`, kind: 'ClusterRole', metadata: { name, labels: labelsOf(name) }, rules }
}

function clusterRoleBinding(name: Account, namespace: string): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: labelsOf(name) },
    roleRef: { apiGroup: authorization, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  }
}

function role(name: Account, namespace: string, rules: readonly Rule[]): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'Role',
    metadata: { name, namespace, labels: labelsOf(name) },
    rules,
  }
}

function roleBinding(name: Account, namespace: string, accountNamespace: string): Manifest {
  return {
    apiVersion: `${authorization}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace, labels: labelsOf(name) },
    roleRef: { apiGroup: authorization, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: accountNamespace }],
  }
}
