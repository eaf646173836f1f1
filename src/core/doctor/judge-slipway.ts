// Is Slipway itself whole: its kinds, operator, agents and fences.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { selects } from '../label-selector.ts'
import { nameList } from '../name-list.ts'
import { isReady } from '../node/node-facts.ts'
import { compareVersions } from '../version.ts'
import {
  type DefinitionSight,
  type DoctorView,
  type FenceSight,
  type Finding,
  looked,
  type OperatorSight,
  ok,
  problem,
  warning,
} from './finding.ts'

/** Clocks differ; a leader renews every few seconds. */
const leaseGraceMs = 60_000

/** The labels of the agents' pods. */
const agentPods = 'app.kubernetes.io/name=slipway,app.kubernetes.io/component=agent'

const installStep = 'run: slipway install'

/** Whether any of our kinds is there. */
export function isInstalled({ definitions }: DoctorView): boolean {
  return 'seen' in definitions ? definitions.seen.some(({ state }) => state !== 'Missing') : true
}

export function judgeSlipway(view: DoctorView): readonly Finding[] {
  const kinds = looked('Kinds', view.definitions, judgeKinds)
  if (!isInstalled(view)) return kinds
  return [
    ...kinds,
    ...looked('Operator', view.operator, (sight) => judgeOperator(view, sight)),
    ...looked('Agents', view.nodes, (nodes) =>
      looked('Agents', view.states, (states) => [judgeAgents(view, nodes, states)]),
    ),
    ...looked('Fences', view.fences, (fences) => [judgeFences(view, fences)]),
  ]
}

function judgeKinds(sights: readonly DefinitionSight[]): readonly Finding[] {
  const named = (state: DefinitionSight['state']) => sights.filter((one) => one.state === state).map(({ name }) => name)
  const [missing, differing] = [named('Missing'), named('Differs')]
  if (missing.length === sights.length) {
    return [problem('Kinds', 'CrdsMissing', 'Slipway is not installed in this cluster', installStep)]
  }
  return [
    ...(missing.length > 0
      ? [problem('Kinds', 'CrdsMissing', `the cluster does not know ${nameList(missing)}`, installStep)]
      : []),
    ...(differing.length > 0
      ? [
          problem(
            'Kinds',
            'CrdsOutdated',
            `not as this program knows them: ${nameList(differing)}; fields may be refused or dropped`,
            `use the program of the version that is installed, or bring them up to date; ${installStep}`,
          ),
        ]
      : []),
    ...(missing.length + differing.length === 0
      ? [ok('Kinds', `all ${sights.length} kinds are there, as this program knows them`)]
      : []),
  ]
}

function judgeOperator(view: DoctorView, { deployment, lease }: OperatorSight): readonly Finding[] {
  return [leadership(view, lease), ...(deployment ? replicas(view, deployment) : [])]
}

function leadership({ now, namespace }: DoctorView, lease: OperatorSight['lease']): Finding {
  const nextStep = `look at its pods: kubectl -n ${namespace} get pods,leases (another namespace: --namespace)`
  if (!lease?.holder || lease.renewedAt === undefined) {
    return problem(
      'Operator',
      'NoLeader',
      `no operator leads in namespace ${namespace}: nothing is carried out`,
      nextStep,
    )
  }
  const ageMs = now.getTime() - Date.parse(lease.renewedAt)
  const said = `${lease.holder} leads; it renewed its Lease ${Math.max(0, Math.round(ageMs / 1000))} s ago`
  return ageMs <= lease.seconds * 1000 + leaseGraceMs
    ? ok('Operator', said)
    : problem('Operator', 'LeaderSilent', said, nextStep)
}

function replicas(
  { version, namespace }: DoctorView,
  { wanted, ready, version: running }: NonNullable<OperatorSight['deployment']>,
): readonly Finding[] {
  const nextStep = `kubectl -n ${namespace} describe deployment,pods`
  const count = `${ready} of ${wanted} replicas of the operator are ready`
  const standing =
    ready < wanted
      ? warning('Replicas', ready === 0 ? 'NoReplica' : 'ReplicaMissing', count, nextStep)
      : wanted < 2
        ? warning('Replicas', 'OneReplica', `${count}: while its node is away nothing goes on`, 'let two run')
        : ok('Replicas', count)
  if (running === undefined || compareVersions(running, version) === 0) return [standing]
  const message = `the operator is ${running}, this program ${version}`
  return [standing, warning('Versions', 'VersionDiffers', message, 'use the same version of both')]
}

function judgeAgents(view: DoctorView, nodes: readonly Node[], states: readonly NodeState[]): Finding {
  const { version, namespace } = view
  const agents = new Map(states.map(({ metadata, status }) => [metadata.name, status?.agent]))
  const homes = nodes.filter((node) => hasAgent(view, node))
  if (homes.length === 0 && nodes.length > 0) {
    return problem(
      'Agents',
      'AgentMissing',
      'no node has the labels that the agents want, so that none runs',
      `look at their nodeSelector: kubectl -n ${namespace} get daemonset slipway-agent -o yaml`,
    )
  }
  const silent = homes.filter((node) => isReady(node) && !agents.get(node.metadata.name))
  if (silent.length > 0) {
    const names = nameList(silent.map(({ metadata }) => metadata.name))
    return problem(
      'Agents',
      'AgentMissing',
      `no agent has reported from ${names}`,
      `is the agent running there? kubectl -n ${namespace} get pods -o wide --selector ${agentPods}`,
    )
  }
  const other = nodes.filter(({ metadata }) => {
    const running = agents.get(metadata.name)?.version
    return running !== undefined && compareVersions(running, version) !== 0
  })
  if (other.length > 0) {
    const [first] = other
    const running = first && agents.get(first.metadata.name)?.version
    const names = nameList(other.map(({ metadata }) => metadata.name))
    const message = `the agents on ${names} are of another version (${running}) than this program (${version})`
    return warning(
      'Agents',
      'AgentVersionDiffers',
      message,
      'let the roll-out of the agents end, or install the same version',
    )
  }
  return ok('Agents', `an agent has reported from each of ${homes.length} nodes`)
}

/** Agents are for Linux; a node without the label that says so may be any. */
function hasAgent({ agentSelector }: DoctorView, { metadata: { labels } }: Node): boolean {
  if (agentSelector) return selects({ matchLabels: agentSelector }, labels)
  return (labels?.['kubernetes.io/os'] ?? 'linux') === 'linux'
}

function judgeFences({ fencesWanted }: DoctorView, fences: readonly FenceSight[]): Finding {
  if (fences.length === 0) {
    const message = 'no admission policy keeps agents to their own NodeState: a stolen token could write any of them'
    return problem('Fences', 'FenceMissing', message, installStep)
  }
  const missing = fencesWanted.filter((wanted) => fences.every(({ name }) => name !== wanted))
  const loose = fences.filter(({ bound }) => !bound).map(({ name }) => name)
  const faults = [
    ...(missing.length > 0 ? [`admission policies that are missing: ${nameList(missing)}`] : []),
    ...(loose.length > 0 ? [`admission policies without a binding that denies: ${nameList(loose)}`] : []),
  ]
  if (faults.length > 0) return problem('Fences', 'FenceMissing', faults.join('; '), installStep)
  return ok('Fences', `${fences.length} admission ${fences.length === 1 ? 'policy is' : 'policies are'} bound`)
}
