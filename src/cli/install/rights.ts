// The roles and bindings of the two accounts: what is not needed is not here.

import { gateRoleLabel } from '../../core/gates/gate.ts'
import { agentClusterRights, agentNamespaceRights } from './agent-rights.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import {
  controllerLeaseRights,
  eventRights,
  nodeLeaseRights,
  operatorClusterRights,
  operatorNamespaceRights,
} from './operator-rights.ts'
import type { Right } from './right.ts'

export const operatorName = 'slipway-operator'
export const agentName = 'slipway-agent'
type Account = typeof operatorName | typeof agentName

/** The user name by which the API server knows an account. */
export function userName(name: Account, { namespace }: Pick<InstallSettings, 'namespace'>): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** For admission policies: what the operator makes was judged when its user wrote it. */
export function notTheOperator(settings: InstallSettings): Readonly<Record<string, string>> {
  return { 'not-the-operator': `request.userInfo.username != '${userName(operatorName, settings)}'` }
}

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
  // Without `rules`: they are the cluster's to fill in, and whoever applies this again must not want them empty.
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [gateRoleLabel]: 'true' } }] },
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
