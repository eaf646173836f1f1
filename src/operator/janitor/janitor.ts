// The sweeper: what changes wakes whom it concerns at once; this finds what no change would ever tell of, wakes its owner, and
// tells a person what cannot be put right. It reads what the watches brought and asks the API for nothing.

import { nodes } from '../../api/kube.ts'
import type { Reason } from '../../api/reason.ts'
import { leftoverOf } from '../../core/janitor/leftovers.ts'
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

interface Finding {
  readonly message: string
  readonly sinceMs: number
  isTold: boolean
}

const sweepMs = 20_000
/** What is not put right by then is told. */
const patienceMs = 60_000

export async function runJanitor(options: JanitorOptions, signal: AbortSignal): Promise<void> {
  const { ports } = options
  const findings = new Map<string, Finding>()
  while (!signal.aborted) {
    try {
      await sleep(ports.clock, sweepMs, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return
    }
    sweep(options, findings)
  }
}

function sweep(options: JanitorOptions, findings: Map<string, Finding>): void {
  const { cluster, book, operations, wakeUps, ports } = options
  for (const { node, nodeUID } of book.grants) {
    if (cluster.nodes.get(node)?.metadata.uid !== nodeUID) wakeUps.grants()
  }
  for (const node of cluster.nodes.values()) {
    const { name } = node.metadata
    const left = leftoverOf({
      node,
      state: cluster.states.get(name),
      grant: book.grantOf(name),
      isWanted: (id) => operations.operation(id) !== undefined,
    })
    if (left) note(options, findings, name, left)
    else if (findings.delete(name)) ports.log.info('nothing is left behind any more', { node: name })
  }
}

function note(
  { ports, cluster, wakeUps, events }: JanitorOptions,
  findings: Map<string, Finding>,
  name: string,
  reason: Reason,
): void {
  const nowMs = ports.clock.monotonicMs()
  const known = findings.get(name)
  const finding = known?.message === reason.message ? known : { message: reason.message, sinceMs: nowMs, isTold: false }
  findings.set(name, finding)
  wakeUps.node(name)
  if (finding.isTold || nowMs - finding.sinceMs < patienceMs) return
  finding.isTold = true
  const uid = cluster.nodes.get(name)?.metadata.uid ?? ''
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
