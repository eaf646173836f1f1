// A real cluster, as its snapshot shows it, in the simulator: its nodes, pods and budgets as they stood, the real operator and
// agents on them, and hosts that pretend.

import { driverNames } from '../../agent/drivers/all-drivers.ts'
import type { Driver } from '../../agent/drivers/driver.ts'
import { rebootDriver } from '../../agent/drivers/reboot/reboot.ts'
import { rehearsalDrivers } from '../../agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../agent/drivers/rehearsal-work.ts'
import { scriptDriver } from '../../agent/drivers/script.ts'
import { directUpdates } from '../../api/direct-update.ts'
import {
  daemonSets,
  deployments,
  jobs,
  type KubeObject,
  type Node,
  nodes,
  type Pod,
  podDisruptionBudgets,
  pods,
  type ReplicaSet,
  replicaSets,
  statefulSets,
} from '../../api/kube.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { isReady, roleOf } from '../../core/node/node-facts.ts'
import { type StepTime, stepTimes } from '../../core/plan/step-times.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import type { NodeSpec } from '../../sim/sim-machine.ts'
import { operatorNamespace } from '../../sim/workloads.ts'
import { rehearsablePolicy, rehearsableProfile, rehearsableState, rehearsableUpdate } from './rehearsable.ts'
import { slipwayCluster } from './simulated-cluster.ts'
import { tendSleeping } from './sleeping-nodes.ts'

export interface LoadOptions {
  readonly seed: number | string
  readonly version: string
  /** The update that is planned: an earlier one of its name is left out, and the profile it names stays as it is. */
  readonly update: { readonly name: string; readonly profile?: string | undefined }
  /** Nodes that are left alone until a pod comes to them; no agent runs there. */
  readonly asleep?: ReadonlySet<string>
  /** What every host has in its package index; absent: what a pretend host has. */
  readonly offers?: readonly string[]
}

/** Longer than a plan runs: nobody judges nodes by their leases here, each renews once when its kubelet starts. */
const leaseEveryMs = 7 * 24 * 3_600_000
const podTimes = { podStartMs: [500, 3000], podStopMs: [500, 5000], jobMs: [30_000, 60_000] } as const
const controllers = [
  ...(['scheduler', 'deployment', 'replica-set', 'daemon-set', 'stateful-set', 'job', 'disruption'] as const),
]
const drivers = [scriptDriver, ...rehearsalWork, ...rehearsalDrivers, rebootDriver]

export function loadedCluster(snapshot: ClusterSnapshot, options: LoadOptions): SimCluster {
  const states = new Map(snapshot.nodeStates.map((state) => [state.metadata.name, state]))
  const times = stepTimes(states.values())
  const { asleep = new Set() } = options
  const sick = new Set(snapshot.pods.filter(isSick).map(({ metadata }) => metadata.uid))
  const isFoundSick = ({ metadata }: Pod) => sick.has(metadata.uid)
  const cluster = slipwayCluster({
    seed: options.seed,
    startMs: Date.parse(snapshot.takenAt),
    nodes: snapshot.nodes.map((node) =>
      machineOf(node, asleep.has(node.metadata.name), states.get(node.metadata.name), snapshot.serverVersion),
    ),
    latencyMs: [5, 50],
    leaseEveryMs,
    historyLimit: 1000,
    which: controllers,
    taintControlPlane: false,
    isSick: isFoundSick,
    ...podTimes,
    durationOf: ({ env }, _node, random) => drawn(times.get(env.SLIPWAY_STEP ?? ''), random.next()),
    bootMs: times.get('reboot')?.medianMs ?? 0,
    log: silentLog,
    ...(options.offers && { versionsOnOffer: options.offers }),
    version: options.version,
    namespace: namespaceOf(snapshot),
    driversOf: (name) => driversOf(states.get(name)),
    withoutAgent: (name) => asleep.has(name) || (snapshot.installed && states.get(name)?.status?.agent === undefined),
  })
  restore(cluster, snapshot, options)
  tendSleeping(cluster, { names: asleep, hasProgram: isOperator, isSick: isFoundSick, ...podTimes })
  return cluster
}

/** The namespace the operator runs in, where it does. */
export function namespaceOf({ pods: all }: ClusterSnapshot): string {
  return all.find(isOperator)?.metadata.namespace ?? operatorNamespace
}

export function isOperator({ metadata }: Pod): boolean {
  return (
    metadata.labels?.['app.kubernetes.io/name'] === 'slipway' &&
    metadata.labels['app.kubernetes.io/component'] === 'operator'
  )
}

function restore(cluster: SimCluster, snapshot: ClusterSnapshot, { update }: LoadOptions): void {
  const { server } = cluster
  for (const node of snapshot.nodes) server.restore(nodes, node)
  const current = currentReplicaSets(snapshot)
  for (const object of snapshot.deployments) server.restore(deployments, ofRevision(withOurImage(object)))
  for (const object of snapshot.replicaSets) {
    const ours = withOurImage(object)
    server.restore(replicaSets, current.has(object.metadata.uid) ? ofRevision(ours) : ours)
  }
  for (const object of snapshot.statefulSets) server.restore(statefulSets, object)
  for (const object of snapshot.daemonSets) server.restore(daemonSets, object)
  for (const object of snapshot.jobs) server.restore(jobs, object)
  for (const object of snapshot.podDisruptionBudgets) server.restore(podDisruptionBudgets, object)
  for (const object of snapshot.maintenancePolicies) server.restore(maintenancePolicies, rehearsablePolicy(object))
  for (const state of snapshot.nodeStates) server.restore(nodeStates, withoutEndedOrder(rehearsableState(state)))
  for (const { metadata, spec } of snapshot.nodeProfiles) {
    // Whether hosts are as their profiles want them cannot be told from here: none is rolled out by itself.
    const rollout = metadata.name === update.profile ? spec.rollout : 'ByUpdate'
    server.restore(nodeProfiles, { metadata, spec: { ...rehearsableProfile(spec), ...(rollout && { rollout }) } })
  }
  for (const object of snapshot.directUpdates) {
    if (object.metadata.name !== update.name) server.restore(directUpdates, rehearsableUpdate(object))
  }
  for (const pod of snapshot.pods) {
    const ours = isOperator(pod) ? { ...pod, spec: { ...pod.spec, containers: ourContainers } } : pod
    server.restore(pods, ours)
    const machine = cluster.machines.get(pod.spec.nodeName ?? '')
    if (pod.status?.phase !== 'Running' || machine?.node.found?.power !== 'on') continue
    machine.containers.start(ours, followsMs(pod, snapshot))
  }
  server.compact()
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** Of each Deployment that does not say which revision it is at: its youngest. */
function currentReplicaSets({ deployments: all, replicaSets: sets }: ClusterSnapshot): ReadonlySet<string> {
  const silent = new Set(
    all.filter(({ metadata }) => !metadata.annotations?.[revisionAnnotation]).map(({ metadata }) => metadata.uid),
  )
  const youngest = new Map<string, ReplicaSet>()
  for (const set of sets) {
    const owner = set.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? ''
    const known = youngest.get(owner)?.metadata.creationTimestamp ?? ''
    if (silent.has(owner) && set.metadata.creationTimestamp >= known) youngest.set(owner, set)
  }
  return new Set([...youngest.values()].map(({ metadata }) => metadata.uid))
}

function ofRevision<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata
  if (annotations?.[revisionAnnotation]) return object
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [revisionAnnotation]: 'now' } } }
}

/** The one that leads comes first to the lease, the others a while after it. */
function followsMs(pod: Pod, { leader }: ClusterSnapshot): number {
  return isOperator(pod) && leader !== undefined && pod.metadata.name !== leader ? 5_000 : 0
}

/** The simulator knows programs by the name of their image. */
const ourContainers = [{ name: 'operator', image: 'slipway', args: ['operator'] }]

function withOurImage<
  T extends { readonly spec: { readonly template?: { readonly metadata?: object; readonly spec: Pod['spec'] } } },
>(object: T): T {
  const { template } = object.spec
  if (!template || !isOperator({ ...template, metadata: template.metadata } as Pod)) return object
  const spec = { ...template.spec, containers: ourContainers }
  return { ...object, spec: { ...object.spec, template: { ...template, spec } } }
}

/** A host that pretends has no journal: what is over must not begin again. */
function withoutEndedOrder(state: NodeState): NodeState {
  const { order, ...spec } = state.spec
  const phase = state.status?.rollout?.phase
  return phase === undefined || phase === 'Done' || phase === 'Failed'
    ? { ...state, spec }
    : { ...state, spec: { ...spec, ...(order && { order }) } }
}

function machineOf(node: Node, sleeps: boolean, state: NodeState | undefined, serverVersion: string): NodeSpec {
  const facts = state?.status?.agent?.facts
  const { kubelet: _, apiServer, ...fixed } = facts ?? {}
  const version = facts?.kubelet ?? node.status?.nodeInfo?.kubeletVersion ?? serverVersion
  return {
    name: node.metadata.name,
    role: roleOf(node) === 'ControlPlane' ? 'control-plane' : 'worker',
    version,
    ...(apiServer !== undefined && { apiServer }),
    found: { node, power: isReady(node) && !sleeps ? 'on' : 'off', facts: facts && fixed },
  }
}

/** Unschedulable and finished ones aside: they do not claim to run. */
function isSick({ status }: Pod): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return status?.phase === 'Running' && ready?.status === 'False'
}

/** As many as the real agent there has; all of them where no agent has ever reported. */
function driversOf(state: NodeState | undefined): readonly Driver[] {
  const known = new Set(state?.status?.agent?.drivers ?? driverNames)
  return drivers.filter(({ name }) => known.has(name))
}

function drawn(time: StepTime | undefined, share: number): number {
  return time === undefined ? 0 : time.leastMs + share * (time.mostMs - time.leastMs)
}
