// Rules 1, 3, 4, 5 and 11, judged on the machines: what really ran there, and what was said of it.

import type { AgentOrder, NodeState } from '../../api/node-state.ts'
import type { Execution } from '../pretend-host.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { isAgent, type Report, type Slack } from './rule.ts'
import type { Truth } from './truth.ts'

const ended = new Set<AgentOrder['state']>(['Succeeded', 'Failed', 'Withdrawn', 'Refused'])

/** At the start of a job: may it run at all, and is it the only one? */
export function judgeStart(
  execution: Execution,
  earlier: readonly Execution[],
  truth: Truth,
  slack: Slack,
  report: Report,
): void {
  const { node, order, step, bootId, startedMs } = execution
  const what = `step ${step} of ${order} on ${node}`
  for (const other of earlier) {
    if (other.order !== order || other.step !== step) continue
    if (other.outcome === 'running') report(4, `${what} was started while another copy runs`)
    if (other.bootId === bootId && other.outcome === 'exited' && other.exitCode === 0)
      report(4, `${what} ran to its end and was started again`)
  }
  if (!truth.grants.some((grant) => grant.node === node && order.startsWith(`${grant.holder}/`)))
    report(1, `${what} was started without a slot`)
  const state = truth.states.get(node)
  const said = state?.status?.agent?.order
  if (said?.id === order && ended.has(said.state))
    report(11, `${what} was started after the agent's last word: ${said.state}`)
  const current = state?.spec.order
  const withdrawnLongAgo = !current || current.id !== order || current.desired !== 'Run'
  const changedMs = truth.phaseSince.get(node) ?? 0
  if (withdrawnLongAgo && startedMs - changedMs > slack.staleMs && current !== undefined && current.id !== order) {
    report(11, `${what} was started although the node has another order, ${current.id}`)
  }
}

/** Rule 3: a kubelet is never newer than the API server it talks to, and no control plane goes over a minor version. */
export function judgeVersions(
  node: string,
  { from, to: kubelet }: { readonly from: string | undefined; readonly to: string },
  apiServers: ReadonlyMap<string, string>,
  report: Report,
): void {
  const own = apiServers.get(node)
  for (const [name, version] of own === undefined ? apiServers : [[node, own] as const]) {
    if (isNewer(kubelet, version))
      report(3, `the kubelet of ${node} became ${kubelet}, the API server of ${name} is ${version}`)
    if (minorOf(version) - minorOf(kubelet) > 3)
      report(3, `the kubelet of ${node} became ${kubelet}, too old for the API server of ${name}, ${version}`)
  }
  if (own !== undefined && from && minorOf(kubelet) - minorOf(from) > 1)
    report(3, `the control plane on ${node} went from ${from} to ${kubelet}`)
}

function minorOf(version: string): number {
  return Number(version.split('.')[1])
}

/** Rule 5: success is said only after the effect was there. */
export function judgeWord(
  change: CommittedChange,
  executions: readonly Execution[],
  kubeletOf: (node: string) => string | undefined,
  report: Report,
): void {
  if (change.kind !== 'NodeState' || change.type !== 'updated' || !isAgent(change.client)) return
  const before = (change.before as NodeState).status?.agent?.order
  const after = (change.after as NodeState).status?.agent?.order
  if (after?.state !== 'Succeeded' || (before?.id === after.id && before.state === 'Succeeded')) return
  const { name } = (change.after as NodeState).metadata
  const work = (change.after as NodeState).spec.order
  if (work?.id !== after.id) return
  if (
    work.work.script &&
    !executions.some(
      ({ order, exitCode, argv }) => order === after.id && exitCode === 0 && !argv[0]?.startsWith('pretend-'),
    )
  ) {
    report(5, `the agent of ${name} said that ${after.id} succeeded, but no script ended well`)
  }
  const target = work.work.kubernetes?.version
  if (target !== undefined && kubeletOf(name) !== target) {
    report(5, `the agent of ${name} said that ${after.id} succeeded, but its kubelet is ${kubeletOf(name)}`)
  }
}

/** By numbers alone: the pretend machines know no pre-releases. */
function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => text.replace(/^v/, '').split('.').map(Number))
  const index = left?.findIndex((part, i) => part !== right?.[i]) ?? -1
  return index >= 0 && (left?.[index] ?? 0) > (right?.[index] ?? 0)
}
