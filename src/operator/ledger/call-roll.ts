// A term that begins after a restore of etcd: everybody is asked, and nothing else is done before they have answered. What it waits
// for stands in the policy's status.

import { isKubeError } from '../../api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { notHeard, rollCallGraceMs, rollCallStatus } from '../../core/ledger/roll-call.ts'
import { isReady } from '../../core/node/node-facts.ts'
import { sleep } from '../../kube/sleep.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'

/** A change wakes it; this is for the grace that passes by itself, and for what a watch may have lost. */
const lookEveryMs = 5_000

export async function callRoll(
  ports: OperatorPorts,
  cluster: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = ports
  const beganMs = clock.monotonicMs()
  const since = clock.now()
  let told: string | undefined
  for (;;) {
    await askAll(ports, cluster, name, signal)
    const nodes = [...cluster.nodes.values()].map((node) => ({
      name: node.metadata.name,
      isReady: isReady(node),
      agent: cluster.states.get(node.metadata.name)?.status?.agent,
    }))
    const waiting = notHeard(name, nodes, clock.monotonicMs() - beganMs)
    if (waiting.length === 0) break
    const status = rollCallStatus(name, since, waiting)
    if (status.reason.message !== told) {
      told = status.reason.message
      log.warn('etcd was restored: every agent is asked first', { rollCall: name, left: waiting.length })
      await tell(ports, status, signal)
    }
    await changed(ports, cluster, signal)
  }
  log.info('every agent has reported after the restore of etcd', { rollCall: name, graceMs: rollCallGraceMs })
}

async function askAll(ports: OperatorPorts, cluster: Cluster, name: string, signal: AbortSignal): Promise<void> {
  for (const state of [...cluster.states.values()]) {
    if (state.spec.rollCall === name || state.status?.agent === undefined) continue
    await ask(ports, cluster, state, name, signal)
  }
}

async function ask(
  { api }: OperatorPorts,
  cluster: Cluster,
  { metadata }: NodeState,
  rollCall: string,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid: metadata.uid }, spec: { rollCall } }
  try {
    cluster.states.learn(await api.patch(nodeStates, { name: metadata.name }, { type: 'merge', body }, signal))
  } catch (error) {
    // Gone with its node, or another's by now: the watch says so.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
  }
}

async function tell(
  { api }: OperatorPorts,
  rollCall: ReturnType<typeof rollCallStatus>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const body = { status: { rollCall } }
    await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal, 'status')
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
  }
}

async function changed({ clock }: OperatorPorts, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const waiting = new AbortController()
  const stop = () => waiting.abort()
  const ends = [cluster.states.subscribe(stop), cluster.nodes.subscribe(stop)]
  try {
    await sleep(clock, lookEveryMs, AbortSignal.any([signal, waiting.signal]))
  } catch (error) {
    if (!waiting.signal.aborted || signal.aborted) throw error
  } finally {
    for (const end of ends) end()
  }
}
