// A gate before nodes is no suggestion: no node that is there is granted to the update while the server it asks has been sick
// for longer than anybody takes to ask it.

import { type Grant, type MaintenancePolicy, maintenancePolicies } from '../../api/maintenance-policy.ts'
import type { Finding } from './fault-run-end.ts'
import type { FaultScenario } from './fault-scenario.ts'
import type { FaultWeb } from './fault-web.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

/** An operator that was frozen writes late. */
const slackMs = 90_000

/** The list fills while the run goes on. */
export function judgeGates(
  { cluster, rules }: SimulatedCluster,
  { extras }: FaultScenario,
  web: FaultWeb,
): readonly Finding[] {
  const found: Finding[] = []
  const isAsked = extras.gates.some(({ type, when = 'BeforeNode' }) => type === 'Http' && when === 'BeforeNode')
  if (!isAsked) return found
  // A policy that was deleted is made again with what it held: that is no new grant.
  const given = new Set<string>()
  cluster.server.onCommit(({ kind, after, time }) => {
    if (kind !== maintenancePolicies.kind) return
    const since = web.sickSince()
    const isSick = since !== undefined && time - since >= slackMs
    for (const grant of grantsOf(after)) {
      const { node, holder } = grant
      const key = `${node} ${holder} ${grant.since}`
      const isFresh = rules.truth.nodes.get(node)?.unavailableSince === undefined
      if (isSick && !given.has(key) && isFresh && holder.startsWith('first/'))
        found.push({ rule: 'gate', message: `${node} was granted while the server that a gate asks is sick` })
      given.add(key)
    }
  })
  return found
}

function grantsOf(policy: unknown): readonly Grant[] {
  return (policy as MaintenancePolicy | undefined)?.status?.ledger?.grants ?? []
}
