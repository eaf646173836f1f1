// One machine of a rehearsal: the real agent over a pretend host, its kubelet if that is ours to play, and its reboots.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { rootedDisk } from '../../adapters/disk/rooted-disk.ts'
import { runAgent } from '../../agent/agent.ts'
import { controlPlaneReporter } from '../../agent/control-plane/control-plane-reporter.ts'
import { etcdObstacle } from '../../agent/control-plane/step-obstacle.ts'
import { controlPlaneDriver } from '../../agent/drivers/control-plane/control-plane-driver.ts'
import { maintenanceDriver } from '../../agent/drivers/maintenance/maintenance.ts'
import { rebootDriver } from '../../agent/drivers/reboot/reboot.ts'
import { rehearsalDrivers } from '../../agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalImage } from '../../agent/drivers/rehearsal-work.ts'
import { scriptDriver } from '../../agent/drivers/script.ts'
import { stampsDriver } from '../../agent/drivers/stamps/stamps.ts'
import { sentinelWatcher } from '../../agent/sentinels/sentinel-watcher.ts'
import type { Node } from '../../api/kube.ts'
import type { SimAgentsOptions } from '../../cli/dependencies.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import { runKubelet } from '../../sim/actors/kubelet.ts'
import type { Containers } from '../../sim/actors/kubelet-options.ts'
import { tellKubeletRestart } from '../../sim/actors/kubelet-restart.ts'
import { pause } from '../../sim/actors/pause.ts'
import type { PretendControlPlane } from '../../sim/pretend-control-plane.ts'
import { type Execution, PretendHost } from '../../sim/pretend-host.ts'
import { pretendBackups } from '../simulation/pretend-backups.ts'
import { profileParts } from './profile-parts.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export interface Rehearsal extends RoleDependencies {
  readonly api: KubeApi
  /** The kubelets' own, so that the server's audit log tells them from agents. */
  readonly kubeletApi: KubeApi
  readonly log: Log
  readonly options: SimAgentsOptions
  readonly serverVersion: string
  readonly controlPlaneServers: PretendControlPlane
}

const podMs = { start: [200, 800], stop: [200, 800], job: [500, 2000] } as const
const againMs = 1000
const stateDir = '/var/lib/slipway'

export class RehearsedMachine {
  readonly #rehearsal: Rehearsal
  readonly #name: string
  readonly #signal: AbortSignal
  readonly #host: PretendHost
  /** From one boot to the next. */
  #power: LinkedAbort
  #kubelet = new AbortController()

  constructor(rehearsal: Rehearsal, node: Node, signal: AbortSignal) {
    const { clock, random, options } = rehearsal
    const { name } = node.metadata
    const home = join(options.stateDir, name)
    this.#rehearsal = rehearsal
    this.#name = name
    this.#signal = signal
    this.#power = new LinkedAbort(signal)
    this.#host = new PretendHost({
      nodeName: name,
      clock,
      random,
      disk: rootedDisk(new FileDisk(), home),
      role: roleOf(node) === 'ControlPlane' ? 'control-plane' : 'worker',
      version: node.status?.nodeInfo?.kubeletVersion || rehearsal.serverVersion,
      workMs: [options.workMs, options.workMs],
      ...(options.offers && { versionsOnOffer: options.offers }),
      onExecution: (execution) => noteExecution(home, execution),
      onKubeletRestart: () => (options.kubelets ? this.#kubelet.abort() : this.#tellRestart(this.#power.signal)),
      onReboot: () => void this.#reboot(),
    })
  }

  powerOn(): void {
    const { signal } = this.#power
    void this.#keepRunning('agent', () => this.#playAgent(signal), signal)
    if (!this.#rehearsal.options.kubelets) return
    const containers = pretendContainers()
    void this.#keepRunning(
      'kubelet',
      () => {
        this.#kubelet = new AbortController()
        return this.#playKubelet(containers, AbortSignal.any([signal, this.#kubelet.signal]))
      },
      signal,
    )
  }

  async #reboot(): Promise<void> {
    const { clock, log, options } = this.#rehearsal
    log.info('the machine boots anew', { node: this.#name })
    this.#power.abort(new Error('the machine boots anew'))
    await this.#host.losePower()
    await pause(clock, options.workMs, this.#signal)
    if (this.#signal.aborted) return
    this.#power = new LinkedAbort(this.#signal)
    this.powerOn()
    if (!options.kubelets) await this.#tellRestart(this.#power.signal)
  }

  /** What fails is told and started again, as systemd would. */
  async #keepRunning(what: string, run: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#rehearsal
    while (!signal.aborted) {
      try {
        await run()
      } catch (error) {
        if (signal.aborted) return
        log.error(`the ${what} ended`, { node: this.#name, error })
        await pause(clock, againMs, signal)
      }
    }
  }

  #playAgent(signal: AbortSignal): Promise<void> {
    const { api, clock, random, log, version, options, controlPlaneServers: requests } = this.#rehearsal
    const host = this.#host
    const profiles = profileParts(host, clock, stateDir)
    const drivers = [
      ...[profiles.driver, controlPlaneDriver(requests), scriptDriver, ...rehearsalDrivers],
      ...[rehearsalImage, maintenanceDriver({ clock, random }), rebootDriver, stampsDriver],
    ]
    const sideTasks = [
      ...[...profiles.sideTasks, sentinelWatcher, controlPlaneReporter(requests)],
      pretendBackups({ takesMs: [options.workMs, options.workMs] }),
    ]
    const obstacle = etcdObstacle(requests)
    const own = { host, nodeName: this.#name, stateDir, drivers, sideTasks, obstacle }
    return runAgent({ api, clock, random, log, version, ...own }, signal)
  }

  async #playKubelet(containers: Containers, signal: AbortSignal): Promise<void> {
    const { kubeletApi: api, clock, random } = this.#rehearsal
    const { kubelet, bootId } = await this.#host.state()
    const times = { podStartMs: podMs.start, podStopMs: podMs.stop, jobMs: podMs.job }
    const nodeName = this.#name
    await runKubelet({ api, clock, random, nodeName, version: kubelet, bootId, containers, ...times }, signal)
  }

  /** Somebody else plays the kubelet of this node; that it was restarted, and what it is now, only we know. */
  async #tellRestart(signal: AbortSignal): Promise<void> {
    const { api, clock } = this.#rehearsal
    const { kubelet, bootId } = await this.#host.state()
    await tellKubeletRestart({ api, clock, nodeName: this.#name, version: kubelet, bootId }, signal)
    // Stopped before it was told: the job is on the disk, and ends in the next life of this program.
    if (signal.aborted) await new Promise<never>(() => undefined)
  }
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
