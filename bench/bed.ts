// A real API server with our resources, a client of our own to it, and the processes that were started on it.

import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SystemClock } from '../src/adapters/clock/system-clock.ts'
import { kubeconfigConnection } from '../src/adapters/kubeconfig/kubeconfig-connection.ts'
import { SystemRandom } from '../src/adapters/random/system-random.ts'
import { type DirectUpdateSpec, directUpdates } from '../src/api/direct-update.ts'
import { configMaps, type KubeObject, type Node, nodes, type ResourceType } from '../src/api/kube.ts'
import { maintenancePolicies } from '../src/api/maintenance-policy.ts'
import { nodeStates } from '../src/api/node-state.ts'
import { HttpKubeApi } from '../src/kube/http/http-kube-api.ts'
import { Reflector } from '../src/kube/reflector.ts'
import { Store } from '../src/kube/store.ts'
import { resourceDefinitions } from '../src/main/crd/resource-definitions.ts'
import type { KubeApi, Selection } from '../src/ports/kube-api.ts'
import { ensureNamespace, operatorNamespace } from '../src/sim/workloads.ts'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../test/bed/api-server.ts'
import { type ChildProgram, freePorts } from '../test/bed/child-program.ts'
import { kubernetesVersion } from '../test/bed/versions.ts'
import { RecordingLog } from '../test/fakes/recording-log.ts'
import { startFromSources } from './slipway-process.ts'

type Definition = KubeObject & { readonly spec: object }
const definitions: ResourceType<Definition> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

export class Bed {
  readonly server: ApiServer
  readonly api: KubeApi
  readonly #client: HttpKubeApi
  readonly #started: ChildProgram[] = []
  readonly #watching = new AbortController()
  /** In memory where that can be had: one disk of this machine is not a hundred machines' disks. */
  readonly #agentDisks = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'slipway-agents-'))

  private constructor(server: ApiServer, client: HttpKubeApi) {
    this.server = server
    this.api = client
    this.#client = client
  }

  static async start(options: ApiServerOptions, signal: AbortSignal): Promise<Bed> {
    const server = await startApiServer(options)
    const clock = new SystemClock()
    const connection = await kubeconfigConnection({ paths: [server.kubeconfigPath], env: process.env, clock })
    const client = new HttpKubeApi({ connection, clock, random: new SystemRandom(), userAgent: 'bench' })
    const bed = new Bed(server, client)
    try {
      await bed.#prepare(signal)
      return bed
    } catch (error) {
      await bed.stop()
      throw error
    }
  }

  /** What the operator needs before it starts. */
  async #prepare(signal: AbortSignal): Promise<void> {
    for (const definition of resourceDefinitions()) await this.api.create<Definition>(definitions, definition, signal)
    for (const type of [directUpdates, nodeStates, maintenancePolicies]) {
      await until(`${type.plural} to be served`, async () => {
        const page = await this.api.list<KubeObject>(type, { limit: 1 }, signal).catch(() => undefined)
        return page !== undefined
      })
    }
    await ensureNamespace(this.api, operatorNamespace, signal)
    await ensureNamespace(this.api, 'kube-node-lease', signal)
  }

  logPath(name: string): string {
    return join(this.server.dir, `${name}.log`)
  }

  /** Held until the bed is stopped. */
  keep(program: ChildProgram): ChildProgram {
    this.#started.push(program)
    return program
  }

  async operatorArguments(): Promise<readonly string[]> {
    const [port = 0] = await freePorts(1)
    return ['operator', '--kubeconfig', this.server.kubeconfigPath, '--metrics-address', `127.0.0.1:${port}`]
  }

  async startOperator(): Promise<ChildProgram> {
    return this.keep(startFromSources(await this.operatorArguments(), this.logPath('operator')))
  }

  /** Agents over pretend hosts, and their kubelets, for the nodes of one part of `addNodes`. */
  startAgents(part: number, workSeconds: number): ChildProgram {
    const args = ['sim', 'agents', '--kubeconfig', this.server.kubeconfigPath, '--selector', `part=${part}`]
    const state = join(this.#agentDisks, String(part))
    const more = ['--work', `${workSeconds}s`, '--state', state, '--kubelets']
    return this.keep(startFromSources([...args, ...more], this.logPath(`agents-${part}`)))
  }

  /** Ready nodes, dealt out to so many parts. */
  async addNodes(count: number, parts: number, signal: AbortSignal): Promise<void> {
    await inParallel(count, (index) => this.api.create(nodes, readyNode(`node-${index + 1}`, index % parts), signal))
  }

  /** A script of its own for an update of this name to run. */
  async addScript(name: string, signal: AbortSignal): Promise<void> {
    const metadata = { name, namespace: operatorNamespace }
    await this.api.create(configMaps, { metadata, data: { script: scriptFor(name) } }, signal)
  }

  /** An update that runs the script of its name. */
  async createUpdate(
    name: string,
    maxUnavailable: number,
    signal: AbortSignal,
    more: Partial<DirectUpdateSpec> = {},
  ): Promise<void> {
    const sha256 = createHash('sha256').update(scriptFor(name)).digest('hex')
    const { apiVersion, kind } = directUpdates
    const spec = { script: { configMap: name, sha256 }, strategy: { maxUnavailable }, ...more }
    await this.api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, signal)
  }

  /** A store that follows the server; it holds the present state when this resolves. */
  async follow<T extends KubeObject>(
    type: ResourceType<T>,
    selection: Selection,
    signal: AbortSignal,
  ): Promise<Store<T>> {
    const store = new Store<T>()
    const ports = { clock: new SystemClock(), random: new SystemRandom(), log: new RecordingLog() }
    const reflector = new Reflector<T>({ ...ports, api: this.api, type, selection, store })
    void reflector.run(this.#watching.signal)
    await reflector.synced(signal)
    return store
  }

  /** Until each node has its NodeState, and where agents run their report. */
  async settled(count: number, agents: boolean, signal: AbortSignal): Promise<void> {
    const states = await this.follow(nodeStates, {}, signal)
    await until(`${count} NodeStates`, async () => {
      const ready = [...states.values()].filter(({ status }) => !agents || status?.agent !== undefined)
      return ready.length >= count
    })
  }

  async stop(): Promise<void> {
    this.#watching.abort()
    await Promise.all(this.#started.map((program) => program.stop('SIGTERM')))
    await this.#client.close()
    await this.server.stop()
    rmSync(this.#agentDisks, { recursive: true, force: true })
  }
}

function scriptFor(name: string): string {
  return `#!/bin/sh\n# ${name}\n`
}

export async function until(what: string, holds: () => Promise<boolean>, withinMs = 180_000): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`waited ${withinMs / 1000} s in vain for ${what}`)
    await wait(100)
  }
}

/** Some at once: as fast as one server takes them. */
export async function inParallel(count: number, work: (index: number) => Promise<unknown>, lanes = 24): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

export function readyNode(
  name: string,
  part: number,
): Omit<Node, 'metadata'> & { metadata: Partial<Node['metadata']> } {
  const now = new Date().toISOString()
  const resources = { pods: '110', cpu: '8', memory: '32Gi' }
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, part: String(part) } },
    spec: {},
    status: {
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now, lastTransitionTime: now },
      ],
      nodeInfo: {
        ...{ kubeletVersion: kubernetesVersion, bootID: name, machineID: name, systemUUID: name, kubeProxyVersion: '' },
        ...{ kernelVersion: '6.12.0', osImage: 'Pretend Linux', containerRuntimeVersion: 'pretend://1.0' },
        ...{ operatingSystem: 'linux', architecture: 'amd64' },
      },
      capacity: resources,
      allocatable: resources,
    },
  }
}
