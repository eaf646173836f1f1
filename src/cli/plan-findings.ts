// What the operator would find before it starts, on the cluster as it is now. A rehearsal cannot tell it: the servers, certificates,
// webhooks and clocks that are looked at are not in a snapshot.

import type { CheckReport } from '../api/preflight.ts'
import type { ClusterSnapshot } from '../api/snapshot.ts'
import { drainOf } from '../core/drain/drain-policy.ts'
import { planUpdate, resolvedSpec } from '../core/plan/plan-update.ts'
import { isChosen } from '../core/update/is-chosen.ts'
import type { Offers } from '../core/versions/offers.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { CommandContext } from './command-context.ts'
import type { Draft } from './update-draft.ts'

/** What is not as it should be, or cannot be told with these rights. */
export async function planFindings(
  { clock, observe, signal }: Pick<CommandContext, 'clock' | 'observe' | 'signal'>,
  api: KubeApi,
  { update: { spec } }: Draft,
  snapshot: ClusterSnapshot,
  offers: Offers | undefined,
): Promise<readonly CheckReport[]> {
  const { nodes, nodeStates, serverVersion, maintenancePolicies } = snapshot
  const policy = maintenancePolicies[0]?.spec
  const states = new Map(nodeStates.map((state) => [state.metadata.name, state]))
  const selected = new Set(nodes.filter((node) => isChosen(spec, node)).map(({ metadata }) => metadata.name))
  const concerns = (node: string) => selected.has(node)
  const drain = drainOf(policy?.drain, spec.drain)
  const known = {
    ...{ spec, nodes, serverVersion, policy, offers, now: clock.now() },
    stateOf: (name: string) => states.get(name),
  }
  const question = { spec: resolvedSpec(known), serverVersion, concerns, drain }
  const plan = planUpdate({
    ...known,
    profiles: snapshot.nodeProfiles,
    // A script that is missing or another one is for the operator to say: plans do not ask for the right to read it.
    scriptSha256: spec.script?.sha256,
    sights: await observe(api, question, signal),
  })
  const reports = (plan.preflight ?? []).filter(({ result }) => result !== 'Passed' && result !== 'Skipped')
  // The operator has registries to ask.
  const isOpen = plan.verdict === 'refused' && plan.versions === true && !spec.airGapped
  return isOpen ? reports.map(leftToOperator) : reports
}

function leftToOperator(report: CheckReport): CheckReport {
  return report.check === 'VersionPath' ? { ...report, result: 'Unknown' } : report
}

export function findingsText(findings: readonly CheckReport[]): string {
  if (findings.length === 0) return ''
  const lines = findings.map(({ check, result, message }) => `  ${result.padEnd(8)}  ${check}: ${message}`)
  return `preflight of this cluster, as it is now:\n${lines.join('\n')}\n`
}
