// The people of a fault run, and the scripts on its hosts: they ask for the update, get in its way, and do what waits for them.

import { createHash } from 'node:crypto'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { holdAnnotation } from '../../api/hold.ts'
import { jobs, type Node, nodes, podDisruptionBudgets } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import { puttingBackChange } from '../../core/node/node-marks.ts'
import { workDoubt } from '../../core/steering/hold-node.ts'
import { presentID } from '../../core/update/path-step.ts'
import { sleep } from '../../kube/sleep.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { createKured } from '../../sim/kured.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { createOperatorPods, createScript, createWorkload, ensureNamespace } from '../../sim/workloads.ts'
import { Beside } from './fault-beside.ts'
import { Carer } from './fault-carer.ts'
import type { CrowdVisit } from './fault-crowd.ts'
import { type Hands, patchNode, patchPolicy } from './fault-hands.ts'
import { HostScripts } from './fault-host-scripts.ts'
import type { FaultScenario, Meddling } from './fault-scenario.ts'
import { visit } from './fault-visits.ts'
import { policyOf, targetOf, updateOf } from './fault-wishes.ts'

export const profileFile = { path: '/etc/motd', content: 'all aboard\n' }
export const ownersMark = { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' }
const script = '#!/bin/sh\ntrue\n'
const work = { configMap: 'work', sha256: createHash('sha256').update(script).digest('hex') }
const shop = 'shop'
const lookEveryMs = 15_000
/** How long somebody keeps a node, or minds about pods that do not move. */
const whileMs = 150_000

interface Owed {
  readonly atMs: number
  /** Whether it could be done. */
  readonly act: () => Promise<boolean>
}

export class FaultPeople {
  readonly #cluster: SimCluster
  readonly #scenario: FaultScenario
  readonly #api: KubeApi
  readonly #hosts: HostScripts
  readonly #signal: AbortSignal
  readonly #hands: Hands
  readonly beside: Beside
  readonly #carer: Carer | undefined
  /** What is yet to be done or undone, and when. */
  readonly #owed: Owed[] = []

  constructor(cluster: SimCluster, scenario: FaultScenario, repair: () => void, signal: AbortSignal) {
    this.#cluster = cluster
    this.#scenario = scenario
    this.#signal = signal
    this.#api = cluster.client('person')
    this.#hands = { cluster, api: this.#api, signal }
    this.#hosts = new HostScripts(cluster, scenario.extras)
    const { extras } = scenario
    this.#carer = extras.attended ? new Carer({ cluster, api: this.#api, repair, signal }) : undefined
    const target = targetOf(extras)
    this.beside = new Beside({
      cluster,
      api: this.#api,
      beside: extras.beside,
      namespace: shop,
      target,
      script: work,
      signal,
    })
  }

  async install(): Promise<void> {
    const { kured, operators, extras } = this.#scenario
    if (kured) await createKured(this.#api, this.#signal)
    const spec = policyOf(this.#scenario)
    if (spec) {
      const { apiVersion, kind } = maintenancePolicies
      const policy = { apiVersion, kind, metadata: { name: policyName }, spec }
      await this.#api.create(maintenancePolicies, policy, this.#signal)
    }
    await createOperatorPods(this.#api, operators, this.#signal)
    await ensureNamespace(this.#api, shop, this.#signal)
    await createWorkload(this.#api, { namespace: shop, name: 'web', replicas: 8, maxUnavailable: 2 }, this.#signal)
    if (extras.tight) {
      await createWorkload(this.#api, { namespace: shop, name: 'tight', replicas: 2, minAvailable: 2 }, this.#signal)
    }
    await createScript(this.#api, work.configMap, script, this.#signal)
    await this.beside.install()
  }

  /** What is wanted of the cluster. */
  async ask(): Promise<void> {
    const { cordoned, extras } = this.#scenario
    if (cordoned !== undefined) await patchNode(cordoned, { spec: { unschedulable: true } }, this.#hands)
    if (extras.marked !== undefined)
      await patchNode(extras.marked, { metadata: { annotations: ownersMark } }, this.#hands)
    if (extras.report) await this.#createReport()
    if (extras.profile) {
      const spec = { files: [profileFile], disruption: extras.profile }
      await this.#api.create(nodeProfiles, { metadata: { name: 'base' }, spec }, this.#signal)
    }
    if (extras.tight === 'loosened') this.#later(() => this.#loosen())
    await this.#createUpdate('first')
    for (const meddling of extras.meddlings)
      this.#later(() => this.#meddle(meddling.what, meddling.node), meddling.afterMs)
    for (const one of extras.visits) this.#later(() => this.#visit(one), one.afterMs)
    await this.beside.ask()
    this.#attend()
  }

  /** Whatever people and hosts had in mind is done. */
  get areDone(): boolean {
    return this.#owed.length === 0 && this.#hosts.areDone && this.#isProfileApplied() && this.beside.isDone()
  }

  async meddle(): Promise<void> {
    const { meddling, meddledNode } = this.#scenario
    await this.#meddle(meddling, meddledNode)
  }

  async #meddle(what: Meddling, node: string): Promise<void> {
    const { skipped } = this.#scenario.extras
    switch (what) {
      case 'nothing':
        return
      case 'delete-update':
        return this.deleteUpdate()
      case 'delete-policy':
        if (this.#cluster.server.peek(maintenancePolicies, { name: policyName })) {
          await this.#api.delete(maintenancePolicies, { name: policyName }, {}, this.#signal)
        }
        return
      case 'edit-strategy':
        return this.patchUpdate({ strategy: { maxUnavailable: 2 } })
      case 'edit-policy':
        await patchPolicy({ leaveLoadBalancers: true }, this.#hands)
        this.#later(() => patchPolicy({ leaveLoadBalancers: null }, this.#hands))
        return
      case 'retry':
        return this.patchUpdate({ retry: { token: 'early' } })
      case 'second-update':
        return this.#createUpdate('second')
      case 'pause-update':
        await this.patchUpdate({ desiredState: 'Paused' })
        this.#later(() => this.patchUpdate({ desiredState: 'Running' }))
        return
      case 'cancel':
        return this.patchUpdate({ desiredState: 'Cancelled', onCancel: 'Finish' })
      case 'cancel-put-back':
        return this.patchUpdate({ desiredState: 'Cancelled', onCancel: 'PutBack' })
      case 'pause':
        await patchPolicy({ paused: true }, this.#hands)
        this.#later(() => patchPolicy({ paused: false }, this.#hands))
        return
      case 'skip':
        return this.patchUpdate({ skip: [node, ...(skipped === undefined ? [] : [skipped])] })
      case 'cordon':
        await patchNode(node, { spec: { unschedulable: true } }, this.#hands)
        this.#later(() => patchNode(node, { spec: { unschedulable: null } }, this.#hands))
        return
      case 'hold':
        await patchNode(node, { metadata: { annotations: { [holdAnnotation]: '{"by":"ana"}' } } }, this.#hands)
        this.#owe(() => this.#release(node))
    }
  }

  async #visit(one: CrowdVisit): Promise<void> {
    const undo = await visit(one, this.#hands)
    if (undo) this.#owe(undo)
  }

  async deleteUpdate(): Promise<void> {
    if (this.update('first')) await this.#api.delete(directUpdates, { name: 'first' }, {}, this.#signal)
  }

  async patchUpdate(spec: Partial<DirectUpdateSpec>): Promise<void> {
    if (this.update('first'))
      await this.#api.patch(directUpdates, { name: 'first' }, { type: 'merge', body: { spec } }, this.#signal)
  }

  update(name: string): DirectUpdate | undefined {
    return this.#cluster.server.peek(directUpdates, { name })
  }

  async #createUpdate(name: string): Promise<void> {
    const { apiVersion, kind } = directUpdates
    const spec = updateOf(this.#scenario, work)
    await this.#api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, this.#signal)
  }

  async #createReport(): Promise<void> {
    const template = {
      metadata: { labels: { app: 'report' } },
      spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }] },
    }
    await this.#api.create(jobs, { metadata: { name: 'report', namespace: shop }, spec: { template } }, this.#signal)
  }

  /** Looks again and again at what waits for a person. */
  #attend(): void {
    this.#cluster.process('people', { latencyMs: [0, 0] }).start(async ({ clock, signal }) => {
      for (;;) {
        await sleep(clock, lookEveryMs, signal)
        await this.#look()
      }
    })
  }

  async #look(): Promise<void> {
    if (this.#signal.aborted) return
    const nowMs = this.#cluster.clock.monotonicMs()
    for (const entry of this.#owed.filter(({ atMs }) => atMs <= nowMs)) {
      if (await entry.act()) this.#owed.splice(this.#owed.indexOf(entry), 1)
    }
    await this.#hosts.goOn()
    await this.beside.goOn()
    await this.#carer?.look()
    await this.#approve('first')
    await this.#approve('second')
    for (const { metadata } of this.#cluster.server.peekAll(directUpdates)) await this.#retryBackup(metadata.name)
  }

  #later(act: () => Promise<void>, afterMs = whileMs): void {
    this.#owe(() => act().then(() => true), afterMs)
  }

  #owe(act: () => Promise<boolean>, afterMs = whileMs): void {
    this.#owed.push({ atMs: this.#cluster.clock.monotonicMs() + afterMs, act })
  }

  async #approve(name: string): Promise<void> {
    const { spec, status } = this.update(name) ?? {}
    if (!status?.operationID || status.wave?.promotion !== 'Wanted') return
    const approval = { operationID: presentID(status), wave: status.wave.index, by: 'ana', at: '2026-01-01T00:00:00Z' }
    const approvals = [...(spec?.approvals ?? []), approval]
    await this.#api.patch(directUpdates, { name }, { type: 'merge', body: { spec: { approvals } } }, this.#signal)
  }

  /** The store has been looked after. */
  async #retryBackup(name: string): Promise<void> {
    const { spec, status } = this.update(name) ?? {}
    const blocked = status?.conditions?.find(({ type }) => type === 'Blocked')
    if (blocked?.status !== 'True' || blocked.reason !== 'BackupFailed') return
    // Asked for already, and not taken up yet.
    if (spec?.retry && spec.retry.token !== status?.backupRun?.retried) return
    const body = { spec: { retry: { token: `backup-${status?.backupRun?.try}` } } }
    await this.#api.patch(directUpdates, { name }, { type: 'merge', body }, this.#signal)
  }

  async #loosen(): Promise<void> {
    const body = { spec: { minAvailable: 0 } }
    await this.#api.patch(
      podDisruptionBudgets,
      { name: 'tight', namespace: shop },
      { type: 'merge', body },
      this.#signal,
    )
  }

  /** As `slipway release` does: not while the agent may still work there. */
  async #release(name: string): Promise<boolean> {
    const node = this.#cluster.server.peek(nodes, { name }) as Node | undefined
    if (!node) return true
    const state = this.#cluster.server.peek(nodeStates, { name })
    if (workDoubt(name, state) !== undefined) return false
    const { [holdAnnotation]: _hold, ...annotations } = node.metadata.annotations ?? {}
    const change = puttingBackChange({ ...node, metadata: { ...node.metadata, annotations } })
    const marks = { ...change.metadata.annotations, [holdAnnotation]: null }
    await patchNode(name, { ...change, metadata: { ...change.metadata, annotations: marks } }, this.#hands)
    return true
  }

  #isProfileApplied(): boolean {
    if (!this.#scenario.extras.profile) return true
    const { metadata, status } = this.#cluster.server.peek(nodeProfiles, { name: 'base' }) ?? {}
    return status?.phase === 'Applied' && status.observedGeneration === metadata?.generation
  }
}
