// Rights cannot tell one NodeState from another, nor one half of its status from the other: the API server's own
// admission can. An agent writes `status.agent` of its own node, and nothing else.

import type { InstallSettings, Manifest } from './manifest.ts'
import { agentName, labelsOf } from './rights.ts'

const name = 'slipway-agent-own-status'

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
  const metadata = { name, labels: labelsOf(agentName) }
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['slipway.dev'],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['nodestates', 'nodestates/status'],
            },
          ],
        },
        matchConditions: [{ name: 'is-an-agent', expression: isAgent }],
        variables: [
          { name: 'node', expression: node },
          { name: 'before', expression: 'has(oldObject.status) && has(oldObject.status.rollout)' },
          { name: 'after', expression: 'has(object.status) && has(object.status.rollout)' },
        ],
        validations: [
          { expression: "request.subResource == 'status'", message: "an agent writes a NodeState's status only" },
          {
            expression: 'object.metadata.name == variables.node',
            messageExpression:
              "'an agent writes the NodeState of its own node only: ' + variables.node + ', not ' + object.metadata.name",
          },
          {
            expression:
              'variables.before == variables.after && (!variables.after || object.status.rollout == oldObject.status.rollout)',
            message: 'status.rollout is the operator’s; an agent writes status.agent only',
          },
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}
