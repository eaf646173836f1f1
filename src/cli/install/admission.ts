// Rights cannot tell one NodeState from another, nor one half of its status from the other: the API server's own
// admission can. An agent writes `status.agent` of its own node, and nothing else.

import { nodeStateStatusSchema } from '../../api/node-state.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { agentName, labelsOf } from './rights.ts'
import { isSame, validatingPolicy } from './validating-policy.ts'

/** By the node its token was made for, which the kubelet asks for on behalf of a pod. */
const podAgent = (namespace: string) => ({
  isAgent: `request.userInfo.username == 'system:serviceaccount:${namespace}:${agentName}'`,
  node: "'authentication.kubernetes.io/node-name' in request.userInfo.extra ? request.userInfo.extra['authentication.kubernetes.io/node-name'][0] : ''",
})
/** By the name of its kubelet: `system:node:NAME`. */
const hostAgent = {
  isAgent: "request.userInfo.username.startsWith('system:node:')",
  node: "request.userInfo.username.replace('system:node:', '', 1)",
}

export function admissionPolicy({ namespace, hostService = false }: InstallSettings): readonly Manifest[] {
  const { isAgent, node } = hostService ? hostAgent : podAgent(namespace)
  // All but the agent's own: a field that is added to the schema is the operator's as well.
  const operatorFields = nodeStateStatusSchema.keyof().exclude(['agent']).options
  return validatingPolicy({
    name: 'slipway-agent-own-status',
    labels: labelsOf(agentName),
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['nodestates', 'nodestates/status'],
    concerns: { 'is-an-agent': isAgent },
    variables: {
      node,
      before: 'oldObject != null && has(oldObject.status) ? oldObject.status : dyn({})',
      after: 'object != null && has(object.status) ? object.status : dyn({})',
    },
    validations: [
      { expression: "request.subResource == 'status'", message: "an agent writes a NodeState's status only" },
      {
        expression: 'request.name == variables.node',
        messageExpression:
          "'an agent writes the NodeState of its own node only: ' + variables.node + ', not ' + request.name",
      },
      ...operatorFields.map((field) => ({
        expression: isSame(field, 'variables.before', 'variables.after'),
        message: `status.${field} is the operator’s; an agent writes status.agent only`,
      })),
    ],
  })
}
