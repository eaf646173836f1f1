import { allRights, type HeldRights } from '../../cli/install/all-rights.ts'
import { gateRoleLabel } from '../../core/gates/gate.ts'

/** What each role may do, what would not work without it, and which tests use it. */
export function renderPermissions(): string {
  return `${head}\n${allRights.map(section).join('\n')}`
}

function section({ holder, where, rights }: HeldRights): string {
  const rows = rights.map(({ rule, why, uses }) => {
    const tests = [...new Set(Object.values(uses))].map((file) => `[${file}](../../test/apiserver/${file}.test.ts)`)
    const shown = `${rule.verbs.join(', ')} | ${why} | ${tests.join(', ')}`
    if ('nonResourceURLs' in rule) return `| ${rule.nonResourceURLs.join(', ')} | ${shown} |`
    const group = rule.apiGroups.join() === '' ? '' : ` (${rule.apiGroups.join(', ')})`
    const only = rule.resourceNames ? ` ${rule.resourceNames.join(', ')}` : ''
    return `| ${rule.resources.join(', ')}${only}${group} | ${shown} |`
  })
  return [
    `## ${holder}, ${where}`,
    '',
    '| resource | verbs | why | fails without it |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

const head = `<!-- Generated from the rights in src/cli/install by make reference; do not edit. -->
# Permissions

What \`slipway install --print\` asks the cluster for, and why. The last column names the tests, on a real API server and with these very
rights, that use each verb of each resource: they fail where it is missing, and where they are named for a right that they do not use.

Agents have no right over pods, nodes or Secrets; those that run as a service of their host (\`--host-service\`) speak as its kubelet, and
have what a kubelet has. An admission policy refuses an agent that writes another node's NodeState, or the
operator's half of its own. On its host an agent is root: that is its work.

The roles named slipway-… below are for people and bound to nobody: bind them as you see fit. Whoever has **slipway-host-admin** is root on
every host, by intent; the others are refused, by admission policies, the fields that would make them so. What each can do to you, and what
it cannot, is in the [threat model](../threat-model.md). None of them has \`patch\` on nodes, which \`slipway hold\` and \`release\` need: see
[the console](../console.md) for the rule to bind besides.

Gates read nodes and pods with these rights. For a gate of type Cel on another kind add a ClusterRole with \`get\`, \`list\` and \`watch\` on it
and the label \`${gateRoleLabel}: "true"\`: the role slipway-gates, empty as installed, takes it over. See [gates](../gates.md).
`
