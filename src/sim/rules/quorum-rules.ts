// Rule 2 as far as etcd is concerned: no control-plane node leaves while a member elsewhere is down, whatever its Node says.

import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { Execution } from '../pretend-host.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { isOperator, type Report, type Slack } from './rule.ts'
import type { Truth } from './truth.ts'

/** Asked only where a control-plane node is concerned: most writes are about something else. */
type DownSince = () => ReadonlyMap<string, number>

/** An agent looks right before the step: what was wrong so long it must have seen. */
const looksWithinMs = 10_000
const stops = new Set(['upgrade-control-plane', 'restart-kubelet'])

/** At the ledger: a slot for a control-plane node that is there. */
export function judgeLeaving(
  { kind, before, after, client, time }: CommittedChange,
  truth: Truth,
  downSince: DownSince,
  { requestMs }: Slack,
  report: Report,
): void {
  if (kind !== 'MaintenancePolicy' || !after || !isOperator(client)) return
  const grantsOf = (policy: unknown) => (policy as MaintenancePolicy | undefined)?.status?.ledger?.grants ?? []
  const held = new Set(grantsOf(before).map(({ node, holder }) => `${node} ${holder}`))
  for (const { node, holder } of grantsOf(after)) {
    if (held.has(`${node} ${holder}`) || !truth.controlPlane.has(node)) continue
    // Booking a node that is out already takes nothing away: a lost ledger is being written again.
    if (truth.nodes.get(node)?.unavailableSince !== undefined) continue
    const down = downElsewhere(node, downSince, time - requestMs)
    if (down.length > 0) report(2, `${node} was granted while the member of etcd on ${down.join(', ')} was down`)
  }
}

/** At the machine: a step that takes its own member away. */
export function judgeStopping(
  { node, step, startedMs }: Execution,
  truth: Truth,
  downSince: DownSince,
  report: Report,
): void {
  if (!truth.controlPlane.has(node) || !stops.has(step)) return
  const down = downElsewhere(node, downSince, startedMs - looksWithinMs)
  if (down.length > 0)
    report(2, `${step} was started on ${node} while the member of etcd on ${down.join(', ')} was down`)
}

function downElsewhere(node: string, downSince: DownSince, before: number): readonly string[] {
  return [...downSince()].flatMap(([name, since]) => (name !== node && since < before ? [name] : []))
}
