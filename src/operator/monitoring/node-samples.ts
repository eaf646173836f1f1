// What is told of nodes, agents and the control plane when somebody scrapes: one walk over all nodes.

import type { Node } from '../../api/kube.ts'
import type { LabelsOf } from '../../api/metrics.ts'
import { nodePhases } from '../../api/node-state.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { oldestApiServer } from '../../core/kubernetes/oldest-api-server.ts'
import { cordonOwner, isReady, keptForPerson, roleOf } from '../../core/node/node-facts.ts'
import { holdOf } from '../../core/node/node-marks.ts'
import { isBroken } from '../../core/update/retry.ts'
import { compareVersions, minorsBetween, parseVersion } from '../../core/version.ts'
import type { Sample } from '../../ports/metrics.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Count } from './count.ts'

type Cause = LabelsOf<'slipway_nodes_unavailable'>['cause']
type Minors = LabelsOf<'slipway_kubelets_behind'>['minors']

export interface NodeSampling {
  readonly cluster: Cluster
  readonly version: string
  readonly serverVersion: string
}

export function* nodeSamples({ cluster, version, serverVersion }: NodeSampling): Generator<Sample> {
  const { nodes, states, controlPlane } = cluster
  const phases = new Count<string>()
  const causes = new Count<Cause>(['Work', 'Person', 'NotReady'])
  const agents = new Count<'Reporting' | 'Missing' | 'Old'>(['Reporting', 'Missing', 'Old'])
  const behind = new Count<Minors>(['0', '1', '2', '3', 'more'])
  const troubles = new Count<ReasonCode>()
  const members = [...controlPlane].flatMap((name) => nodes.get(name) ?? [])
  const oldest = oldestApiServer(members, (name) => states.get(name), serverVersion)
  let onHold = 0
  let drifted = 0
  let reboots = 0
  for (const node of nodes.values()) {
    const status = states.get(node.metadata.name)?.status
    const { rollout, agent } = status ?? {}
    phases.add(`${roleOf(node)} ${rollout?.phase ?? 'Idle'}`)
    const cause = causeOf(node)
    if (cause) causes.add(cause)
    if (holdOf(node) !== undefined) onHold++
    if (rollout?.reason && isBroken(rollout.phase)) troubles.add(rollout.reason.code)
    if (agent?.profile?.drift?.length) drifted++
    if (agent?.facts.rebootRequired !== undefined || agent?.sentinels?.rebootRequired !== undefined) reboots++
    if (!agent && isReady(node)) agents.add('Missing')
    if (agent) agents.add(compareVersions(agent.version, version) < 0 ? 'Old' : 'Reporting')
    const lag = minorsBehind(node, oldest)
    if (lag !== undefined) behind.add(lag)
  }
  for (const role of ['ControlPlane', 'Worker'] as const) {
    for (const phase of ['Idle', ...nodePhases] as const) {
      yield { name: 'slipway_nodes', labels: { role, phase }, value: phases.of(`${role} ${phase}`) }
    }
  }
  for (const [cause, value] of causes) yield { name: 'slipway_nodes_unavailable', labels: { cause }, value }
  for (const [state, value] of agents) yield { name: 'slipway_agents', labels: { state }, value }
  for (const [minors, value] of behind) yield { name: 'slipway_kubelets_behind', labels: { minors }, value }
  for (const [code, value] of troubles) yield { name: 'slipway_nodes_in_trouble', labels: { code }, value }
  yield { name: 'slipway_nodes_on_hold', labels: {}, value: onHold }
  yield { name: 'slipway_nodes_drifted', labels: {}, value: drifted }
  yield { name: 'slipway_reboots_wanted', labels: {}, value: reboots }
}

function causeOf(node: Node): Cause | undefined {
  const owner = cordonOwner(node)
  if (owner !== undefined && owner !== keptForPerson) return 'Work'
  if (!isReady(node)) return 'NotReady'
  return node.spec.unschedulable ? 'Person' : undefined
}

function minorsBehind(node: Node, apiServer: string): Minors | undefined {
  const kubelet = parseVersion(node.status?.nodeInfo?.kubeletVersion ?? '')
  const server = parseVersion(apiServer)
  if (!kubelet || !server) return undefined
  const minors = Math.max(0, minorsBetween(kubelet, server))
  return minors > 3 ? 'more' : (String(minors) as Minors)
}
