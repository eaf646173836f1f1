// The people of a fault run, and the scripts on its hosts: they ask for the update, get in its way, and do what waits for them.

import { createHash } from 'node:crypto'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { holdAnnotation } from '../../api/hold.ts'
import { jobs, type Node, nodes, podDisruptionBudgets } from '../../api/kube.ts'
import { type MaintenancePolicySpec, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import { puttingBackChange } from '../../core/node/node-marks.ts'
import { hasStopped } from '../../core/node/order.ts'
import { presentID } from '../../core/update/path-step.ts'
import { sleep } from '../../kube/sleep.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { createKured, kuredPlace } from '../../sim/kured.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { createOperatorPods, createScript, createWorkload, ensureNamespace } from '../../sim/workloads.ts'
import { Beside } from './fault-beside.ts'
import { HostScripts, rebootSentinel } from './fault-host-scripts.ts'
import type { FaultScenario } from './fault-scenario.ts'

/** One minor version up; or two, of which hosts know only the first. */
export function targetOf({ path }: Pick<FaultScenario['extras'], 'path'>): string {
  return path === undefined ? 'v1.36.3' : 'v1.37.3'
}
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
  readonly beside: Beside
  /** What is yet to be undone, and when. */
  readonly #owed: Owed[] = []

  constructor(cluster: SimCluster, scenario: FaultScenario, signal: AbortSignal) {
    this.#cluster = cluster
    this.#scenario = scenario
    this.#signal = signal
    this.#api = cluster.client('person')
    this.#hosts = new HostScripts(cluster, scenario.extras)
    const { extras } = scenario
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
    const spec = this.#policy()
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
    if (cordoned !== undefined) await this.#patchNode(cordoned, { spec: { unschedulable: true } })
    if (extras.marked !== undefined) await this.#patchNode(extras.marked, { metadata: { annotations: ownersMark } })
    if (extras.report) await this.#createReport()
    if (extras.profile) {
      const spec = { files: [profileFile], disruption: extras.profile }
      await this.#api.create(nodeProfiles, { metadata: { name: 'base' }, spec }, this.#signal)
    }
    if (extras.tight === 'loosened') this.#later(() => this.#loosen())
    await this.#createUpdate('first')
    await this.beside.ask()
    this.#attend()
  }

  /** Whatever people and hosts had in mind is done. */
  get areDone(): boolean {
    return this.#owed.length === 0 && this.#hosts.areDone && this.#isProfileApplied() && this.beside.isDone()
  }

  async meddle(): Promise<void> {
    const { meddling, meddledNode, extras } = this.#scenario
    switch (meddling) {
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
        await this.#setPaused(true)
        this.#later(() => this.#setPaused(false))
        return
      case 'skip':
        return this.patchUpdate({ skip: [meddledNode, ...(extras.skipped === undefined ? [] : [extras.skipped])] })
      case 'cordon':
        await this.#patchNode(meddledNode, { spec: { unschedulable: true } })
        this.#later(() => this.#patchNode(meddledNode, { spec: { unschedulable: null } }))
        return
      case 'hold':
        await this.#patchNode(meddledNode, { metadata: { annotations: { [holdAnnotation]: '{"by":"ana"}' } } })
        this.#owe(() => this.#release(meddledNode))
    }
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

  #policy(): MaintenancePolicySpec | undefined {
    const { budget, perZone, kured, extras } = this.#scenario
    const { pool, maintained, rebooting, hours, backup } = extras
    const budgets = [
      ...(budget === undefined ? [] : [{ maxUnavailable: budget }]),
      ...(perZone === undefined ? [] : [{ per: 'topology.kubernetes.io/zone', maxUnavailable: perZone }]),
      ...(pool.length === 0 ? [] : [{ nodeSelector: { matchLabels: { pool: 'a' } }, maxUnavailable: 1 }]),
    ]
    const spec: MaintenancePolicySpec = {
      ...(budgets.length > 0 && { budgets }),
      ...hours,
      ...(backup && {
        backupStores: [{ ...backupStore, ...(backup.scheduled && { schedule: { cron: '*/5 * * * *' } }) }],
      }),
      ...(kured && { locks: [{ type: 'Kured' as const, daemonSet: kuredPlace }] }),
      ...(maintained !== undefined && { maintenance: {}, taintWhileWaiting: true }),
      ...(rebooting !== undefined && { reboots: { sentinels: [rebootSentinel] } }),
      ...(this.#forcesByPolicy && { drain: { rules: forceRules } }),
    }
    return Object.keys(spec).length > 0 ? spec : undefined
  }

  /** Where somebody else than the update drains, too. */
  get #forcesByPolicy(): boolean {
    const { tight, profile, maintained, rebooting } = this.#scenario.extras
    return tight === 'forced' && [profile, maintained, rebooting].some((other) => other !== undefined)
  }

  async #createUpdate(name: string): Promise<void> {
    const { work: wanted, maxUnavailable, waves, extras } = this.#scenario
    const { gates, hooks, tight, report, skipped, operationTimeout, backup, path } = extras
    const { apiVersion, kind } = directUpdates
    const rules = [
      ...(tight === 'forced' && !this.#forcesByPolicy ? forceRules : []),
      ...(report ? [{ selector: labelled('report'), action: 'WaitForCompletion' as const, timeout: '2m' }] : []),
    ]
    const spec: DirectUpdateSpec = {
      // A clock set wrong by a fault stays so, and the update has to come through it.
      preflight: { skip: ['ClockSkew', ...(tight ? ['DisruptionBudgets' as const] : [])] },
      ...(wanted !== 'script' && { kubernetes: { version: targetOf(extras), ...(path && { workers: path }) } }),
      ...(wanted !== 'kubernetes' && { script: work }),
      strategy: { maxUnavailable, ...(waves && { waves }) },
      ...(gates.length > 0 && { gates: [...gates] }),
      ...(hooks.length > 0 && { hooks: [...hooks] }),
      ...(rules.length > 0 && { drain: { rules } }),
      ...(skipped !== undefined && { skip: [skipped] }),
      ...(operationTimeout !== undefined && { operationTimeout }),
      ...(backup && { backup: backup.spec }),
    }
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
    await this.#approve('first')
    await this.#approve('second')
    for (const { metadata } of this.#cluster.server.peekAll(directUpdates)) await this.#retryBackup(metadata.name)
  }

  #later(act: () => Promise<void>): void {
    this.#owe(() => act().then(() => true))
  }

  #owe(act: () => Promise<boolean>): void {
    this.#owed.push({ atMs: this.#cluster.clock.monotonicMs() + whileMs, act })
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
    if (state?.spec.order && !hasStopped(state.spec.order, state)) return false
    const { [holdAnnotation]: _hold, ...annotations } = node.metadata.annotations ?? {}
    const change = puttingBackChange({ ...node, metadata: { ...node.metadata, annotations } })
    await this.#patchNode(name, {
      ...change,
      metadata: { ...change.metadata, annotations: { ...change.metadata.annotations, [holdAnnotation]: null } },
    })
    return true
  }

  #isProfileApplied(): boolean {
    if (!this.#scenario.extras.profile) return true
    const profile = this.#cluster.server.peek(nodeProfiles, { name: 'base' })
    return profile?.status?.phase === 'Applied'
  }

  async #setPaused(paused: boolean): Promise<void> {
    if (!this.#cluster.server.peek(maintenancePolicies, { name: policyName })) return
    const patch = { type: 'merge', body: { spec: { paused } } } as const
    await this.#api.patch(maintenancePolicies, { name: policyName }, patch, this.#signal)
  }

  async #patchNode(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#cluster.server.peek(nodes, { name }))
      await this.#api.patch(nodes, { name }, { type: 'merge', body }, this.#signal)
  }
}

const backupStore = { name: 'here', path: '/var/backups' }
const labelled = (app: string) => ({ matchLabels: { app } })
const forceRules = [{ selector: labelled('tight'), action: 'Force' as const, timeout: '30s' }]
