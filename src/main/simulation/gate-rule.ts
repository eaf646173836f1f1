// A gate is no suggestion: while the server it asks has been sick for longer than anybody takes to ask it, no node that is there is
// granted to whom it holds for, and none that waits behind one is done.

import type { GateSpec } from '../../api/gate.ts'
import { type Grant, type MaintenancePolicy, maintenancePolicies } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates, type Rollout } from '../../api/node-state.ts'
import { isDrainOperation, profilePrefix } from '../../core/profile/operation-id.ts'
import type { Finding } from './fault-run-end.ts'
import type { FaultScenario } from './fault-scenario.ts'
import type { FaultWeb } from './fault-web.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

/** An operator that was frozen writes late. */
const slackMs = 90_000
const worked: ReadonlySet<Rollout['phase']> = new Set(['Working', 'Verifying'])

/** The list fills while the run goes on. */
export function judgeGates(
  { cluster, rules }: SimulatedCluster,
  { extras, meddling, meddledNode }: FaultScenario,
  web: FaultWeb,
): readonly Finding[] {
  const found: Finding[] = []
  const asks = (gates: readonly GateSpec[], wanted: GateSpec['when']) =>
    gates.some(({ type, when = 'BeforeNode' }) => type === 'Http' && when === wanted)
  // They go with it.
  const policyGates = meddling === 'delete-policy' ? [] : extras.policyGates
  /** Those of the policy hold for everybody who takes a node away, those of the update for its own nodes. */
  const isAsked = (operation: string, when: GateSpec['when']) =>
    (asks(policyGates, when) && !disturbsNobody(operation)) ||
    (operation.startsWith('first/') && asks(extras.gates, when))
  // Who releases a node says that it is fit, whatever a gate thinks.
  const released = new Set(extras.meddlings.filter(({ what }) => what === 'hold').map(({ node }) => node))
  if (meddling === 'hold') released.add(meddledNode)
  // A policy that was deleted is made again with what it held: that is no new grant.
  const given = new Set<string>()
  cluster.server.onCommit(({ kind, before, after, time }) => {
    const since = web.sickSince()
    const isSick = since !== undefined && time - since >= slackMs
    if (kind === maintenancePolicies.kind) {
      for (const grant of grantsOf(after)) {
        const { node, holder } = grant
        const key = `${node} ${holder} ${grant.since}`
        const isFresh = rules.truth.nodes.get(node)?.unavailableSince === undefined
        if (isSick && !given.has(key) && isFresh && isAsked(holder, 'BeforeNode'))
          found.push({ rule: 'gate', message: `${node} was granted while the server that a gate asks is sick` })
        given.add(key)
      }
    }
    if (kind !== nodeStates.kind || !isSick) return
    const [was, is] = [rolloutOf(before), rolloutOf(after)]
    if (released.has(after?.metadata.name ?? '')) return
    if (!was || !worked.has(was.phase) || is?.phase !== 'Done' || !isAsked(is.operationID, 'AfterNode')) return
    found.push({ rule: 'gate', message: `${after?.metadata.name} is done while the server that a gate asks is sick` })
  })
  return found
}

function disturbsNobody(operation: string): boolean {
  return operation.startsWith(profilePrefix) && !isDrainOperation(operation)
}

function grantsOf(policy: unknown): readonly Grant[] {
  return (policy as MaintenancePolicy | undefined)?.status?.ledger?.grants ?? []
}

function rolloutOf(state: unknown): Rollout | undefined {
  return (state as NodeState | undefined)?.status?.rollout
}
