// A cluster to roll out on: a real control plane, Node objects that pretend kubelets keep alive, and Slipway itself as real
// processes, two operators with the rights `install` gives them and several processes of pretend machines with real agents.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { rootedDisk } from '../../src/adapters/disk/rooted-disk.ts'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../src/api/direct-update.ts'
import { leases } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { microTime } from '../../src/kube/micro-time.ts'
import type { HostFiles } from '../../src/ports/host-files.ts'
import { DiskFiles } from '../../src/sim/disk-files.ts'
import { realClient } from '../apiserver/real-client.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { freePorts } from '../bed/child-program.ts'
import { createNodes, groupLabel, type NodeDraft } from './cluster-objects.ts'
import { type RanStep, ranSteps } from './executions.ts'
import { type AccountAccess, accountAccess, installFrom, namespace } from './installation.ts'
import { NodeObserver } from './node-observer.ts'
import { ownProgram, SlipwayProcess } from './slipway-process.ts'

export interface RigOptions {
  readonly controlPlane: number
  readonly workers: number
  /** How many processes share the agents. */
  readonly agentProcesses: number
  /** How long each pretend step takes. */
  readonly work: string
  readonly version: string
  /** False: the nodes are Ready by themselves, and no kubelet of ours is played. */
  readonly kubelets?: boolean
  /** False: nobody judges nodes by their silence, so that an API server that was away makes none of them unready. */
  readonly nodeLifecycle?: boolean
  readonly labelsOf?: (index: number) => Readonly<Record<string, string>>
  readonly auditWhole?: readonly string[]
  /** Further arguments of the operators. */
  readonly operatorArguments?: readonly string[]
  /** Further arguments of kube-apiserver. */
  readonly apiArguments?: readonly string[]
  /** What is installed and started at first; of these sources if not said. */
  readonly program?: string
}

export interface Operator extends AccountAccess {
  readonly process: SlipwayProcess
  readonly metricsUrl: string
}

/** A server without streaming lists, as older ones are: everything is listed, then watched. */
export const listsApart = ['--feature-gates=WatchList=false']

const controllers = [
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'pod-garbage-collector-controller',
  'job-controller',
  'clusterrole-aggregation-controller',
]
const nodeLifecycle = 'node-lifecycle-controller'
const leaseName = 'slipway-operator'
const readyWithinMs = 90_000
const look = { interval: 100 }

export class RolloutRig {
  readonly server: ApiServer
  readonly api: HttpKubeApi
  readonly observer: NodeObserver
  readonly operators: readonly Operator[]
  readonly agents: readonly SlipwayProcess[]
  readonly drafts: readonly NodeDraft[]
  readonly #stateDirs: readonly string[]
  readonly #dir: string
  readonly #signal = new AbortController().signal
  readonly #killAll = () => {
    for (const process of this.#processes()) process.killNow()
  }

  private constructor(server: ApiServer, api: HttpKubeApi, operators: readonly Operator[], options: RigOptions) {
    this.server = server
    this.api = api
    this.operators = operators
    this.observer = new NodeObserver(api)
    this.#dir = mkdtempSync(join(tmpdir(), 'slipway-rig-'))
    this.drafts = draftNodes(options)
    const groups = Array.from({ length: options.agentProcesses }, (_, index) => `g${index}`)
    this.#stateDirs = groups.map((group) => join(this.#dir, group))
    this.agents = groups.map((group, index) => {
      const args = ['sim', 'agents', '--kubeconfig', server.kubeconfigPath, '--work', options.work]
      const own = ['--selector', `${groupLabel}=${group}`, '--state', this.#stateDirs[index] ?? '']
      const kubelets = options.kubelets === false ? [] : ['--kubelets']
      const log = join(server.dir, `agents-${group}.log`)
      return new SlipwayProcess(group, [...args, ...own, ...kubelets], log, options.program)
    })
    process.once('exit', this.#killAll)
  }

  /** Everything runs and every agent has reported. */
  static async start(options: RigOptions): Promise<RolloutRig> {
    const { kubelets = true, nodeLifecycle: judged = kubelets } = options
    const { auditWhole = [], apiArguments = [], program = ownProgram } = options
    const animated = judged ? [...controllers, nodeLifecycle] : controllers
    const server = await startApiServer({ controllers: animated, audit: true, auditWhole, apiArguments })
    try {
      const { api } = await realClient(server.kubeconfigPath)
      await installFrom(program, server)
      const names = ['operator-a', 'operator-b']
      const operators = await Promise.all(
        names.map((name) => operatorProcess(server, name, program, options.operatorArguments)),
      )
      const rig = new RolloutRig(server, api, operators, options)
      await rig.#begin().catch(async (error: unknown) => {
        const logs = rig.#processes().map(({ name, log }) => `--- ${name}\n${log.slice(-2000)}`)
        await rig.stop()
        throw new Error(`the rig did not come up\n${logs.join('\n')}`, { cause: error })
      })
      return rig
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  async #begin(): Promise<void> {
    await createNodes(this.api, this.drafts, this.#signal)
    for (const process of this.#processes()) process.start()
    await this.observer.start()
    await vi.waitFor(
      async () => {
        const { items } = await this.api.list(nodeStates, {}, this.#signal)
        const reported = items.filter(({ status }) => status?.agent).length
        const away = this.observer.nodes().length - this.observer.done(this.drafts[0]?.version ?? '')
        if (reported < this.drafts.length || away > 0)
          throw new Error(`${reported} agents reported, ${away} nodes away`)
      },
      { timeout: readyWithinMs, ...look },
    )
    this.observer.sights.length = 0
  }

  /** With SLIPWAY_KEEP=DIR in the environment the logs of all processes stay there. */
  async stop(): Promise<void> {
    await this.observer.stop()
    await Promise.all(this.#processes().map((process) => process.kill()))
    const { SLIPWAY_KEEP: kept } = process.env
    if (kept) cpSync(this.server.dir, kept, { recursive: true, filter: (path) => !path.includes('/etcd') })
    process.removeListener('exit', this.#killAll)
    await this.api.close()
    await this.server.stop()
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The replica whose name is on the lease now, and the other. */
  async leader(): Promise<{ readonly leader: Operator; readonly standby: Operator }> {
    return vi.waitFor(
      async () => {
        const { spec } = await this.api.get(leases, { name: leaseName, namespace }, this.#signal)
        const leads = ({ process }: Operator) => spec.holderIdentity?.startsWith(`${process.name}_`) ?? false
        const leader = this.operators.find(leads)
        const standby = this.operators.find((operator) => !leads(operator))
        if (!leader || !standby) throw new Error(`the lease is held by ${spec.holderIdentity}`)
        return { leader, standby }
      },
      { timeout: 30_000, ...look },
    )
  }

  /** Somebody else's name on it, as fresh as if that one led; nobody renews it. */
  async stealLease(): Promise<void> {
    const spec = { holderIdentity: 'thief', renewTime: microTime(new Date()) }
    await this.api.patch(leases, { name: leaseName, namespace }, { type: 'merge', body: { spec } }, this.#signal)
  }

  async setBudget(maxUnavailable: number): Promise<void> {
    const body = { spec: { budgets: [{ maxUnavailable }] } }
    await this.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, this.#signal)
  }

  policy(): Promise<MaintenancePolicy> {
    return this.api.get(maintenancePolicies, { name: policyName }, this.#signal)
  }

  createUpdate(name: string, spec: DirectUpdateSpec): Promise<DirectUpdate> {
    const { apiVersion, kind } = directUpdates
    return this.api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, this.#signal)
  }

  update(name: string): Promise<DirectUpdate> {
    return this.api.get(directUpdates, { name }, this.#signal)
  }

  /** Waits for an end, good or bad; says how it stood when the time is up. */
  async ended(name: string, timeout: number): Promise<DirectUpdate> {
    const ended = await vi.waitFor(
      async () => {
        const update = await this.update(name)
        const { phase } = update.status ?? {}
        if (phase === 'Succeeded' || phase === 'Failed') return update
        throw new Error(standing(update))
      },
      { timeout, interval: 250 },
    )
    await this.observer.catchUp()
    return ended
  }

  /** What is awaited of it; says how it stood where that failed. */
  async meanwhile<T>(name: string, awaited: Promise<T>): Promise<T> {
    return awaited.catch(async (error: unknown) => {
      throw new Error(`${error}; ${standing(await this.update(name))}`, { cause: error })
    })
  }

  async isGone(name: string): Promise<boolean> {
    return this.update(name).then(
      () => false,
      (error: unknown) => {
        if (isKubeError(error, 'NotFound')) return true
        throw error
      },
    )
  }

  /** Of a pretend machine, as somebody on it would see them; its agent is not told of what is written here. */
  files(node: string): HostFiles {
    const group = this.drafts.find(({ name }) => name === node)?.group ?? ''
    return new DiskFiles(rootedDisk(new FileDisk(), join(this.#dir, group, node)))
  }

  ranSteps(): readonly RanStep[] {
    return ranSteps(this.#stateDirs)
  }

  #processes(): readonly SlipwayProcess[] {
    return [...this.operators.map(({ process }) => process), ...this.agents]
  }
}

function draftNodes(options: RigOptions): readonly NodeDraft[] {
  const { controlPlane, workers, agentProcesses, version, kubelets, nodeLifecycle, labelsOf } = options
  const names = [
    ...Array.from({ length: controlPlane }, (_, index) => `cp${index + 1}`),
    ...Array.from({ length: workers }, (_, index) => `w${index + 1}`),
  ]
  return names.map((name, index) => ({
    name,
    controlPlane: index < controlPlane,
    group: `g${index % agentProcesses}`,
    version,
    foreign: kubelets === false,
    unjudged: nodeLifecycle === false,
    ...(labelsOf && { labels: labelsOf(index) }),
  }))
}

async function operatorProcess(
  server: ApiServer,
  name: string,
  program: string,
  more: readonly string[] = [],
): Promise<Operator> {
  const access = await accountAccess(server, 'slipway-operator', `${name}.conf`)
  const args = ['operator', '--kubeconfig', access.kubeconfig, '--identity', name, '--namespace', namespace]
  const address = `127.0.0.1:${(await freePorts(1))[0]}`
  const log = join(server.dir, `${name}.log`)
  const process = new SlipwayProcess(name, [...args, '--metrics-address', address, ...more], log, program)
  return { ...access, process, metricsUrl: `http://${address}/metrics` }
}

function standing({ metadata, status }: DirectUpdate): string {
  const { phase, progress, conditions, nodes } = status ?? {}
  return `${metadata.name} is ${phase} ${progress}: ${JSON.stringify({ conditions, nodes })}`
}
