// Every right that an installation gives, by who holds it and where: for the reference, and for the tests that each is used in.

import { agentClusterRights, agentNamespaceRights } from './agent-rights.ts'
import { foreignNamespaceRights, foreignRights, foreignSystemRights } from './foreign-rights.ts'
import { lockRight } from './lock-rights.ts'
import * as operator from './operator-rights.ts'
import { peopleRoles } from './people-roles.ts'
import type { Right } from './right.ts'

export interface HeldRights {
  readonly holder: 'Operator' | 'Agent' | string
  /** As the reference says it. */
  readonly where: string
  /** Absent: in the whole cluster. `own` is the operator's. */
  readonly namespace?: 'own' | 'kube-node-lease' | 'kube-system' | 'default'
  readonly rights: readonly Right[]
}

const everywhere = 'over the whole cluster'

export const allRights: readonly HeldRights[] = [
  { holder: 'Operator', where: everywhere, rights: operator.operatorClusterRights },
  { holder: 'Operator', where: 'in its own namespace', namespace: 'own', rights: operator.operatorNamespaceRights },
  {
    ...{ holder: 'Operator', where: 'in kube-node-lease', namespace: 'kube-node-lease' },
    rights: operator.nodeLeaseRights,
  },
  { holder: 'Operator', where: 'in kube-system', namespace: 'kube-system', rights: operator.controllerLeaseRights },
  {
    ...{ holder: 'Operator', where: 'in default (Events of cluster-scoped objects live there)', namespace: 'default' },
    rights: operator.eventRights,
  },
  { holder: 'Operator', where: 'with --with-foreign: over resources of other systems', rights: foreignRights },
  {
    ...{ holder: 'Operator', where: 'with --with-foreign: in its own namespace', namespace: 'own' },
    rights: foreignNamespaceRights,
  },
  {
    ...{ holder: 'Operator', where: 'with --with-foreign: in kube-system', namespace: 'kube-system' },
    rights: foreignSystemRights,
  },
  { holder: 'Operator', where: 'with --lock: in the namespace of that DaemonSet', rights: [lockRight('kured')] },
  { holder: 'Agent', where: everywhere, rights: agentClusterRights },
  { holder: 'Agent', where: 'in the operator’s namespace', namespace: 'own', rights: agentNamespaceRights },
  ...peopleRoles.flatMap(({ name, rights, namespaceRights }) => [
    { holder: name, where: everywhere, rights },
    ...(namespaceRights
      ? [{ holder: name, where: 'in the operator’s namespace', namespace: 'own' as const, rights: namespaceRights }]
      : []),
  ]),
]
