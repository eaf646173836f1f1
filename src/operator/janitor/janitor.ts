// The sweeper: what changes wakes whom it concerns at once; this finds what no change would ever tell of, wakes its owner, and
// tells a person what cannot be put right. It reads what the watches brought and asks the API for nothing.

import { type Node, nodes } from '../../api/kube.ts'
import type { Reason } from '../../api/reason.ts'
import { leftoverOf } from '../../core/janitor/leftovers.ts'
import { type Finding, noteFinding, pauseMs } from '../../core/janitor/patience.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { sleep } from '../../kube/sleep.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import type { Operations } from '../update/operations.ts'
import type { WakeUps } from '../wake-ups.ts'

export interface JanitorOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly wakeUps: WakeUps
  readonly events: EventRecorder
}

export async function runJanitor(options: JanitorOptions, signal: AbortSignal): Promise<void> {
  const { ports } = options
  let findings: ReadonlyMap<string, Finding> = new Map()
  while (!signal.aborted) {
    try {
      await sleep(ports.clock, pauseMs(findings.values(), ports.clock.monotonicMs()), signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return
    }
    findings = sweep(options, findings)
  }
}

/** By the UID of the node: one that comes back under its name is another. */
function sweep(options: JanitorOptions, known: ReadonlyMap<string, Finding>): ReadonlyMap<string, Finding> {
  const { cluster, book, operations, wakeUps, ports } = options
  for (const { node, nodeUID } of book.grants) {
    if (cluster.nodes.get(node)?.metadata.uid !== nodeUID) wakeUps.grants()
  }
  const findings = new Map<string, Finding>()
  for (const node of cluster.nodes.values()) {
    const { name, uid = '' } = node.metadata
    const before = known.get(uid)
    const left = leftoverOf({
      node,
      state: cluster.states.get(name),
      grant: book.grantOf(name),
      isWanted: (id) => operations.operation(id) !== undefined,
    })
    if (left) {
      const finding = noteFinding(before, left.message, ports.clock.monotonicMs())
      findings.set(uid, finding)
      wakeUps.node(name)
      if (finding.told !== before?.told) tell(options, node, left)
    } else if (before) ports.log.info('nothing is left behind any more', { node: name })
  }
  return findings
}

function tell({ ports, events }: JanitorOptions, { metadata: { name, uid = '' } }: Node, reason: Reason): void {
  const regarding = { apiVersion: nodes.apiVersion, kind: nodes.kind, name, uid }
  ports.log.warn('something of ours is left behind', { node: name, reason: reason.code, message: reason.message })
  events.record({
    regarding,
    type: 'Warning',
    reason: reason.code,
    action: 'Sweep',
    note: reason.message.slice(0, 1000),
  })
}
