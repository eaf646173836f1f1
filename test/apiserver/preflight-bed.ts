// A real API server with its disruption controller, and an operator with the rights `install` gives. Nodes have no kubelets
// and no agents here; what those would say is written for them. Nothing is ever taken: the policy is paused.

import { join } from 'node:path'
import { expect, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { type DirectUpdateSpec, type DirectUpdateStatus, directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { type AgentStatus, nodeStates } from '../../src/api/node-state.ts'
import { drainOf } from '../../src/core/drain/drain-policy.ts'
import type { Sights } from '../../src/core/preflight/sights.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { observe } from '../../src/operator/preflight/observe.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { createNodes, renewNodeLease } from '../rollout-rig/cluster-objects.ts'
import { accountAccess, installSlipway, kubectl, namespace } from '../rollout-rig/installation.ts'
import { SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { wellControlPlane } from '../samples/cluster-objects.ts'
import { realClient } from './real-client.ts'

export const nodeNames = ['c1', 'c2', 'w1', 'w2'] as const
export type NodeName = (typeof nodeNames)[number]

export const current = 'v1.36.3'
export const next = 'v1.37.0'
export const toNext: DirectUpdateSpec = { kubernetes: { version: next } }

const controllers = ['disruption-controller', 'garbage-collector-controller']
const { signal } = new AbortController()
const patience = { timeout: 240_000, interval: 200 }

export class PreflightBed {
  readonly server: ApiServer
  readonly api: HttpKubeApi
  readonly #operator: SlipwayProcess
  readonly #kubeconfig: string
  #updates = 0

  private constructor(server: ApiServer, api: HttpKubeApi, kubeconfig: string) {
    this.server = server
    this.api = api
    this.#kubeconfig = kubeconfig
    const args = ['operator', '--kubeconfig', kubeconfig, '--namespace', namespace, '--metrics-address', '127.0.0.1:0']
    this.#operator = new SlipwayProcess('operator', args, join(server.dir, 'operator.log'))
  }

  static async open(): Promise<PreflightBed> {
    const apiArguments = ['--runtime-config=networking.k8s.io/v1beta1=true,storage.k8s.io/v1beta1=true']
    const server = await startApiServer({ controllers, apiArguments, audit: true })
    const { api } = await realClient(server.kubeconfigPath)
    await installSlipway(server)
    const { kubeconfig } = await accountAccess(server, 'slipway-operator', 'operator.conf')
    const bed = new PreflightBed(server, api, kubeconfig)
    await bed.#begin()
    return bed
  }

  async #begin(): Promise<void> {
    const draft = (name: NodeName) => ({ name, controlPlane: name.startsWith('c'), group: 'g', version: current })
    await createNodes(this.api, nodeNames.map(draft), signal)
    for (const name of ['w1', 'w2']) {
      // Each new node is born with a taint that a controller would take off.
      await this.api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints: null } } }, signal)
    }
    this.#operator.start()
    await this.setPolicy({ paused: true })
    await vi.waitFor(() => this.putBack(), patience)
  }

  async close(): Promise<void> {
    await this.#operator.stop()
    await this.api.close()
    await this.server.stop()
  }

  /** What its kubelet would say; `holds` are conditions. */
  async shows(
    name: NodeName,
    { holds = ['Ready'], kubelet = current, runtime = 'containerd://2.2.9' }: Partial<Shown> = {},
  ): Promise<void> {
    const at = new Date().toISOString()
    const conditions = ['Ready', 'DiskPressure', 'MemoryPressure'].map((type) => ({
      ...{ type, lastHeartbeatTime: at, lastTransitionTime: at },
      status: holds.includes(type) ? 'True' : 'False',
    }))
    const nodeInfo = { kubeletVersion: kubelet, containerRuntimeVersion: runtime }
    const status = { conditions, nodeInfo, allocatable: { cpu: '4', memory: '8Gi', pods: '50' } }
    await this.api.patch(nodes, { name }, { type: 'merge', body: { status } }, signal, 'status')
    await renewNodeLease(this.api, name, new Date(), signal)
  }

  /** What its agent would say. */
  async reports(name: NodeName, facts: object = {}, more: object = {}): Promise<void> {
    const drivers = ['script', 'kubeadm', 'kubelet', 'kubectl']
    const told = { version: packageJson.version, bootID: 'b', epoch: 0, drivers }
    const agent = { ...told, facts: { ...healthyFacts(name), ...facts }, ...more }
    await this.api.patch(nodeStates, { name }, { type: 'merge', body: { status: { agent } } }, signal, 'status')
  }

  /** Everything said of nodes is as it was. */
  async putBack(): Promise<void> {
    const none = { kubeletFlags: [], kubeletServer: null }
    await Promise.all(nodeNames.flatMap((name) => [this.shows(name), this.reports(name, none, { order: null })]))
  }

  async setPolicy(spec: object): Promise<void> {
    const patch = { type: 'merge', body: { spec } } as const
    await vi.waitFor(() => this.api.patch(maintenancePolicies, { name: policyName }, patch, signal), patience)
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await kubectl(this.server, ['apply', '-f', '-'], listOf(objects))
  }

  async remove(...objects: readonly object[]): Promise<void> {
    await kubectl(
      this.server,
      ['delete', '--ignore-not-found', '--force', '--grace-period=0', '-f', '-'],
      listOf(objects),
    )
  }

  /** A new update, as soon as it is judged so; then it is deleted. */
  async judged(spec: DirectUpdateSpec, holds: (status: DirectUpdateStatus) => void): Promise<DirectUpdateStatus> {
    const name = `update-${++this.#updates}`
    const { apiVersion, kind } = directUpdates
    await this.api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, signal)
    try {
      return await vi.waitFor(async () => {
        const { status = {} } = await this.api.get(directUpdates, { name }, signal)
        expect(status.preflight, JSON.stringify(status.conditions)).toBeDefined()
        holds(status)
        return status
      }, patience)
    } finally {
      await this.api.delete(directUpdates, { name }, {}, signal)
    }
  }

  /** It gives the lease back. */
  stopOperator(): Promise<void> {
    return this.#operator.stop()
  }

  /** A look with the operator's own credentials; from another version than the server's to another than the next. */
  async seenByOperator(serverVersion = current, version = next): Promise<Sights> {
    const { api } = await realClient(this.#kubeconfig)
    try {
      return await lookAt(api, serverVersion, version)
    } finally {
      await api.close()
    }
  }
}

interface Shown {
  readonly holds: readonly string[]
  readonly kubelet: string
  readonly runtime: string
}

export function lookAt(api: HttpKubeApi, serverVersion = current, version = next): Promise<Sights> {
  return observe(
    { api, clock: new SystemClock() },
    { spec: { kubernetes: { version } }, serverVersion, concerns: () => true, drain: drainOf() },
    signal,
  )
}

function healthyFacts(name: NodeName): AgentStatus['facts'] {
  return {
    ...{ os: 'Debian 13', kernel: '6.12', architecture: 'amd64', kubelet: current, versionsOnOffer: [current, next] },
    ...{ freeGiB: 10, cgroup: 'v2', kubeletFlags: [], runtime: 'containerd 2.2.9', packageManager: 'apt' },
    ...(name.startsWith('c') && {
      ...wellControlPlane,
      apiServer: current,
      certificatesExpireAt: '2099-01-01T00:00:00Z',
    }),
  }
}

function listOf(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}
