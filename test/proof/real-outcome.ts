// A drawn cluster on a real API server with the real scheduler and controllers: planned from what `slipway snapshot` saves of it,
// then the update is carried out there, by our operator and agents over pretended machines.

import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes, pods } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import type { ClusterSnapshot } from '../../src/api/snapshot.ts'
import { parseClusterSnapshot } from '../../src/cli/cluster-snapshot.ts'
import { isReady } from '../../src/core/node/node-facts.ts'
import type { PlanRun } from '../../src/core/plan/plan-report.ts'
import { PlanNotes } from '../../src/main/simulation/plan-notes.ts'
import {
  approvalOf,
  createPlanned,
  EndWatch,
  lateDrain,
  type NamedUpdate,
} from '../../src/main/simulation/plan-steering.ts'
import { rehearsable } from '../../src/main/simulation/rehearsable.ts'
import { rehearse } from '../../src/main/simulation/rehearse.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { PretendControlPlane } from '../../src/sim/pretend-control-plane.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { createOperatorPods, operatorNamespace } from '../../src/sim/workloads.ts'
import { realClient } from '../apiserver/real-client.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { kubectl } from '../rollout-rig/installation.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { type ClusterDraft, draftCluster } from './cluster-draft.ts'
import type { Outcome } from './compare.ts'
import { hostname } from './drawn-names.ts'
import { disturb, populate } from './populate.ts'
import { RealMachine } from './real-machine.ts'
import { RealSight } from './real-sight.ts'
import { rehearsals, rehearsalsWhereTight } from './simulated-outcome.ts'

const crds = fileURLToPath(new URL('../../deploy/crds', import.meta.url))
const controllers = [
  ...['deployment-controller', 'replicaset-controller', 'statefulset-controller', 'daemonset-controller'],
  ...['job-controller', 'disruption-controller', 'garbage-collector-controller', 'pod-garbage-collector-controller'],
  ...['node-lifecycle-controller', 'taint-eviction-controller'],
]
// The slow ones are for a machine that does other things as well: pods come up one by one there.
const limits = { startMs: 400_000, downMs: 400_000, runMs: 1_200_000 }
const patience = { stuckMs: 90_000, attentionMs: 30_000 }
const lookMs = 250

export async function realOutcome(seed: number, signal: AbortSignal, rehearsedShare = 1): Promise<Outcome> {
  const draft = draftCluster(seed, 'real')
  const server = await startApiServer({ controllers })
  const { api } = await realClient(server.kubeconfigPath)
  const stop = new AbortController()
  const all = AbortSignal.any([signal, stop.signal])
  const clock = new SystemClock()
  const random = new SeededRandom(`preview/real/${seed}/machines`)
  const members = draft.machines.filter(({ role }) => role === 'control-plane').map(({ name }) => [name, true] as const)
  const controlPlaneServers = new PretendControlPlane(() => new Map(members))
  const around = { api, clock, random, controlPlaneServers, times: draft }
  const machines = new Map(draft.machines.map((node) => [node.name, new RealMachine(node, around)]))
  const sight = new RealSight(api, clock, random)
  try {
    await kubectl(server, ['apply', '-f', crds])
    await kubectl(server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s'])
    await sight.start(all)
    await bringUp({ api, draft, machines, sight }, all)
    const snapshot = await snapshotOf(server)
    const update = { name: 'planned', spec: draft.update }
    const nodesAtMost = Math.floor(snapshot.nodes.length * rehearsedShare)
    const report = await rehearse(
      { snapshot, update, version: '0.0.0', seed: 1000 + seed, rehearsals, rehearsalsWhereTight, nodesAtMost },
      all,
    )
    const planned = { ...update, spec: rehearsable(update.spec) }
    return { report, run: await carryOutReal(api, sight, snapshot, planned, all) }
  } finally {
    await Promise.all([...machines.values()].map((machine) => machine.losePower()))
    stop.abort()
    await api.close()
    await server.stop()
  }
}

interface Bringing {
  readonly api: KubeApi
  readonly draft: ClusterDraft
  readonly machines: ReadonlyMap<string, RealMachine>
  readonly sight: RealSight
}

async function bringUp({ api, draft, machines, sight }: Bringing, signal: AbortSignal): Promise<void> {
  const { server } = sight
  for (const machine of machines.values()) machine.powerOn()
  const { home, replicas } = draft.operators
  await createOperatorPods(api, replicas, signal, home === undefined ? undefined : { [hostname]: home })
  const reported = () => server.peekAll(nodeStates).filter(({ status }) => status?.agent).length
  await until('all agents have reported', limits.startMs, () => reported() === machines.size)
  await until('there is a policy', limits.startMs, () => !!server.peek(maintenancePolicies, { name: policyName }))
  await populate(api, draft, signal)
  await settled(sight)
  await disturb(api, draft, signal)
  if (draft.down !== undefined) {
    const ref = { name: draft.down }
    await machines.get(draft.down)?.losePower()
    await until('the lost node is noticed', limits.downMs, () => {
      const node = server.peek(nodes, ref)
      return node !== undefined && !isReady(node)
    })
  }
  await settled(sight)
}

async function until(what: string, limitMs: number, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`not within ${limitMs / 1000} s: ${what}`)
    await wait(lookMs)
  }
}

/** Nothing has happened to any pod for a while. */
async function settled({ server }: RealSight): Promise<void> {
  let lastMs = performance.now()
  const forget = server.onCommit(({ kind }) => {
    if (kind === pods.kind) lastMs = performance.now()
  })
  await until('the pods have settled', limits.startMs, () => performance.now() - lastMs > 6_000)
  forget()
}

async function snapshotOf({ kubeconfigPath }: ApiServer): Promise<ClusterSnapshot> {
  const { code, out, err } = await runSlipway(['--kubeconfig', kubeconfigPath, 'snapshot'])
  if (code !== 0) throw new Error(`slipway snapshot ended with ${code}: ${err}`)
  return parseClusterSnapshot(out, 'snapshot')
}

async function carryOutReal(
  api: KubeApi,
  sight: RealSight,
  snapshot: ClusterSnapshot,
  update: NamedUpdate,
  signal: AbortSignal,
): Promise<PlanRun> {
  const { clock, server } = sight
  const notes = new PlanNotes(sight, snapshot, update)
  const person = new Person(api, signal)
  server.onCommit((change) => {
    const { node = '', pods: held = [] } = lateDrain(change) ?? {}
    for (const { pod, reason } of held) {
      notes.noteBlock(node, pod, reason)
      person.removes(pod)
    }
  })
  await createPlanned(api, operatorNamespace, update, signal)
  const startedMs = clock.monotonicMs()
  const look = () => server.peek(directUpdates, { name: update.name })
  const end = new EndWatch(look, patience)
  while (!end.isOver(clock.monotonicMs())) {
    if (clock.monotonicMs() - startedMs > limits.runMs) throw new Error(`no end: ${JSON.stringify(look()?.status)}`)
    const body = approvalOf(look(), clock.now())
    if (body) await api.patch(directUpdates, { name: update.name }, { type: 'merge', body }, signal)
    await wait(lookMs, undefined, { signal })
  }
  await person.isDone()
  const nowMs = clock.monotonicMs()
  notes.noteEnd(look(), end.isStuck(nowMs))
  const phase = look()?.status?.phase ?? 'Pending'
  return { phase, startedMs, durationMs: end.endMs(nowMs) - startedMs, ...notes.found(look()) }
}

/** Removes what holds a drain up, each pod once. */
class Person {
  readonly #api: KubeApi
  readonly #signal: AbortSignal
  readonly #removals = new Map<string, Promise<void>>()

  constructor(api: KubeApi, signal: AbortSignal) {
    this.#api = api
    this.#signal = signal
  }

  removes(pod: string): void {
    if (!this.#removals.has(pod)) this.#removals.set(pod, this.#remove(pod))
  }

  async isDone(): Promise<void> {
    await Promise.all(this.#removals.values())
  }

  async #remove(pod: string): Promise<void> {
    const [namespace = '', name = ''] = pod.split('/')
    try {
      await this.#api.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 }, this.#signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }
}
