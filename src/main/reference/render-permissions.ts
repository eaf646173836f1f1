import * as rights from '../../cli/install/rights.ts'
import { gateRoleLabel } from '../../core/gates/gate.ts'

/** What each role may do, and what would not work without it. */
export function renderPermissions(): string {
  const sections = [
    section('Operator, over the whole cluster', rights.operatorClusterRights),
    section('Operator, in its own namespace', rights.operatorNamespaceRights),
    section('Operator, in kube-node-lease', rights.nodeLeaseRights),
    section('Operator, in kube-system', rights.controllerLeaseRights),
    section('Operator, in default (Events of cluster-scoped objects live there)', rights.eventRights),
    section('Agent, over the whole cluster', rights.agentClusterRights),
    section('Agent, in the operator’s namespace', rights.agentNamespaceRights),
  ]
  return `${head}\n${sections.join('\n')}`
}

function section(title: string, entries: readonly rights.Right[]): string {
  const rows = entries.map(({ rule, why }) => {
    if ('nonResourceURLs' in rule) return `| ${rule.nonResourceURLs.join(', ')} | ${rule.verbs.join(', ')} | ${why} |`
    const group = rule.apiGroups.join() === '' ? '' : ` (${rule.apiGroups.join(', ')})`
    return `| ${rule.resources.join(', ')}${group} | ${rule.verbs.join(', ')} | ${why} |`
  })
  return [`## ${title}`, '', '| resource | verbs | why |', '|---|---|---|', ...rows, ''].join('\n')
}

const head = `<!-- Generated from src/cli/install/rights.ts by make reference; do not edit. -->
# Permissions

What \`slipway install --print\` asks the cluster for, and why. Agents have no right over pods, nodes or Secrets. An admission policy
refuses an agent that writes another node's NodeState, or the operator's half of its own. On its host an agent is root: that is its work.

Gates read nodes and pods with these rights. For a gate of type Cel on another kind add a ClusterRole with \`get\`, \`list\` and \`watch\` on it
and the label \`${gateRoleLabel}: "true"\`: the role slipway-gates, empty as installed, takes it over. See [gates](../gates.md).
`
