// `slipway sim agents`: the real agent code over pretend hosts, for every matching node, in one process. What a host knows and
// its journal are on a real disk, so that killing this process and starting it again is like rebooting nothing at all.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { rootedDisk } from '../../adapters/disk/rooted-disk.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { runAgent } from '../../agent/agent.ts'
import { controlPlaneReporter } from '../../agent/control-plane/control-plane-reporter.ts'
import { etcdObstacle } from '../../agent/control-plane/step-obstacle.ts'
import { controlPlaneDriver } from '../../agent/drivers/control-plane/control-plane-driver.ts'
import { rehearsalDrivers } from '../../agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../agent/drivers/script.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { SimAgentsOptions } from '../../cli/dependencies.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import { runKubelet } from '../../sim/actors/kubelet.ts'
import type { Containers } from '../../sim/actors/kubelet-options.ts'
import { tellKubeletRestart } from '../../sim/actors/kubelet-restart.ts'
import { PretendControlPlane } from '../../sim/pretend-control-plane.ts'
import { type Execution, PretendHost } from '../../sim/pretend-host.ts'
import { firstContact } from './first-contact.ts'
import type { RoleDependencies } from './role-dependencies.ts'

interface Rehearsal extends RoleDependencies {
  readonly api: KubeApi
  /** The kubelets' own, so that the server's audit log tells them from agents. */
  readonly kubeletApi: KubeApi
  readonly log: Log
  readonly options: SimAgentsOptions
  readonly serverVersion: string
  readonly controlPlaneServers: PretendControlPlane
}

const podMs = { start: [200, 800], stop: [200, 800], job: [5000, 10_000] } as const
const againMs = 1000

export async function simAgentsRole(
  deps: RoleDependencies,
  options: SimAgentsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { connector, clock, random } = deps
  const { kubeconfig, context, selector } = options
  const log = pinoLog({ level: 'info', component: 'sim-agents' })
  const api = await connector.connect({ kubeconfig, context, component: 'agent' })
  await firstContact(api, [nodes, nodeStates], signal)
  const kubeletApi = await connector.connect({ kubeconfig, context, component: 'kubelet' })
  const machines = new Map<string, AbortController>()
  const store = new Store<Node>()
  const controlPlane = new Store<Node>()
  const controlPlaneServers = new PretendControlPlane(() => membersOf(controlPlane))
  const serverVersion = await api.serverVersion(signal)
  const rehearsal = { ...deps, api, kubeletApi, log, options, serverVersion, controlPlaneServers }
  store.subscribe(({ type, key, object }) => {
    if (type === 'added') {
      const stop = new AbortController()
      machines.set(key, stop)
      pretend(rehearsal, object, AbortSignal.any([signal, stop.signal]))
    } else if (type === 'removed') {
      machines.get(key)?.abort()
      machines.delete(key)
    }
  })
  const selection = selector === undefined ? {} : { labelSelector: selector }
  const ofControlPlane = { labelSelector: 'node-role.kubernetes.io/control-plane' }
  await Promise.all([
    new Reflector({ api, type: nodes, selection, store, clock, random, log }).run(signal),
    new Reflector({ api, type: nodes, selection: ofControlPlane, store: controlPlane, clock, random, log }).run(signal),
  ])
}

/** A member of etcd for each, whoever pretends it, and all are well. */
function membersOf(controlPlane: Store<Node>): ReadonlyMap<string, boolean> {
  const names = [...controlPlane.values()].map(({ metadata }) => metadata.name)
  return new Map(names.sort().map((name) => [name, true]))
}

/** One machine; what fails on it is told and started again, as systemd would. */
function pretend(rehearsal: Rehearsal, node: Node, signal: AbortSignal): void {
  const { clock, random, log, options } = rehearsal
  const { name } = node.metadata
  let restart = new AbortController()
  const home = join(options.stateDir, name)
  const host: PretendHost = new PretendHost({
    nodeName: name,
    clock,
    random,
    disk: rootedDisk(new FileDisk(), home),
    role: roleOf(node) === 'ControlPlane' ? 'control-plane' : 'worker',
    version: node.status?.nodeInfo?.kubeletVersion || rehearsal.serverVersion,
    workMs: [options.workMs, options.workMs],
    ...(options.offers && { versionsOnOffer: options.offers }),
    onExecution: (execution) => noteExecution(home, execution),
    onKubeletRestart: () => (options.kubelets ? restart.abort() : restartKubelet(rehearsal, host, name, signal)),
  })
  const keepRunning = async (what: string, run: () => Promise<void>) => {
    while (!signal.aborted) {
      try {
        await run()
      } catch (error) {
        if (signal.aborted) return
        log.error(`the ${what} ended`, { node: name, error })
        await new Promise<void>((resolve) => clock.after(againMs, resolve))
      }
    }
  }
  void keepRunning('agent', () => playAgent(rehearsal, host, name, signal))
  if (!options.kubelets) return
  const containers = pretendContainers()
  void keepRunning('kubelet', () => {
    restart = new AbortController()
    return playKubelet(rehearsal, host, name, containers, AbortSignal.any([signal, restart.signal]))
  })
}

function playAgent(
  { api, clock, random, log, version, controlPlaneServers: requests }: Rehearsal,
  host: PretendHost,
  nodeName: string,
  signal: AbortSignal,
) {
  const drivers = [controlPlaneDriver(requests), scriptDriver, ...rehearsalDrivers]
  const sideTasks = [controlPlaneReporter(requests)]
  const obstacle = etcdObstacle(requests)
  const stateDir = '/var/lib/slipway'
  return runAgent({ api, host, clock, random, log, nodeName, stateDir, version, drivers, sideTasks, obstacle }, signal)
}

async function playKubelet(
  { kubeletApi: api, clock, random }: Rehearsal,
  host: PretendHost,
  nodeName: string,
  containers: Containers,
  signal: AbortSignal,
): Promise<void> {
  const { kubelet, bootId } = await host.state()
  const times = { podStartMs: podMs.start, podStopMs: podMs.stop, jobMs: podMs.job }
  await runKubelet({ api, clock, random, nodeName, version: kubelet, bootId, containers, ...times }, signal)
}

/** Somebody else plays the kubelet of this node; that it was restarted, and what it is now, only we know. */
async function restartKubelet(
  { api, clock }: Rehearsal,
  host: PretendHost,
  nodeName: string,
  signal: AbortSignal,
): Promise<void> {
  const { kubelet, bootId } = await host.state()
  await tellKubeletRestart({ api, clock, nodeName, version: kubelet, bootId }, signal)
  // Stopped before it was told: the job is on the disk, and ends in the next life of this program.
  if (signal.aborted) await new Promise<never>(() => undefined)
}

/** Every start of a pretend program, for whoever wants to know what really ran; the same pid again is the same process. */
function noteExecution(home: string, { order, step, argv, pid, bootId }: Execution): void {
  appendFileSync(join(home, 'executions.jsonl'), `${JSON.stringify({ order, step, argv, pid, bootId })}\n`)
}

/** Containers that run as soon as they are started and are gone as soon as they are stopped. */
function pretendContainers(): Containers {
  const running = new Set<string>()
  return {
    isRunning: (podUid) => running.has(podUid),
    start: (pod) => void running.add(pod.metadata.uid),
    stop: (podUid) => {
      running.delete(podUid)
      return 'gone'
    },
  }
}
