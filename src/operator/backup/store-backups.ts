// Backups that belong to no update: by a store's schedule, or because a person asked. Their record is the policy's status.

import type { BackupAnswer, BackupStoreSpec } from '../../api/backup.ts'
import { type BackupDemand, backupAnnotation, backupDemandSchema, type StoreRecord } from '../../api/backup-plan.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import { type Question, questionOf, stepRun } from '../../core/backup/run.ts'
import { storeTurn } from '../../core/backup/store-turn.ts'
import { equalJson } from '../../core/merge-patch.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { type BackupParts, eachInTurn, lookAgainMs } from './backup-parts.ts'

const maxSteps = 8

export class StoreBackups {
  readonly #parts: BackupParts
  readonly #events: EventRecorder
  /** What was last told about each store that waits. */
  readonly #told = new Map<string, string>()

  constructor(parts: BackupParts, events: EventRecorder) {
    this.#parts = parts
    this.#events = events
  }

  questions(): readonly Question[] {
    return (this.#parts.cluster.writablePolicy?.status?.backups ?? []).flatMap(({ store, run }) => {
      return (run && questionOf(store, run)) ?? []
    })
  }

  /** Brings all of them on; says when to look again. */
  async advance(signal: AbortSignal): Promise<readonly number[]> {
    const { writablePolicy: policy } = this.#parts.cluster
    if (!policy) return []
    const stores = policy.spec.backupStores ?? []
    await this.#dropRecords(policy, stores, signal)
    return eachInTurn(stores, (store) => this.#follow(store, signal))
  }

  async #follow(store: BackupStoreSpec, signal: AbortSignal): Promise<number | undefined> {
    for (let steps = 0; steps < maxSteps; steps++) {
      const untilMs = await this.#step(store, signal)
      if (untilMs !== 'again') return untilMs
    }
    return this.#parts.ports.clock.now().getTime() + 1000
  }

  async #step(store: BackupStoreSpec, signal: AbortSignal): Promise<number | 'again' | undefined> {
    const { cluster, ports } = this.#parts
    const { writablePolicy: policy } = cluster
    if (!policy) return undefined
    const known = policy.status?.backups?.find((entry) => entry.store === store.name)
    const now = ports.clock.now()
    const { record, problem } = storeTurn(store, known, this.#demand(policy, store), now)
    if (problem !== undefined) this.#tellOnce(store, 'BackupScheduleInvalid', problem)
    const isNews = !equalJson(record, known ?? { store: store.name })
    if (isNews) {
      await this.#write(policy, record, signal)
      return 'again'
    }
    const nextMs = Date.parse(record.next ?? '')
    if (!record.run) return Number.isNaN(nextMs) ? undefined : nextMs
    return this.#advanceRun(policy, store, record, signal)
  }

  async #advanceRun(
    policy: MaintenancePolicy,
    store: BackupStoreSpec,
    record: StoreRecord,
    signal: AbortSignal,
  ): Promise<number | 'again' | undefined> {
    const { ports, desk, hosts, needsKey, updateNext } = this.#parts
    const { run, ...rest } = record
    // Its window may close: a host that an update is about to ask is left to it. The pass that asks it is asked for by others.
    const first = run?.node === undefined ? updateNext() : undefined
    if (!run || first) return first?.untilMs
    const now = ports.clock.now()
    const isExternal = policy.spec.etcd !== undefined
    const step = stepRun({
      ...{ run, subject: run.subject, label: store.name, hosts: hosts(), now, isExternal },
      needsKey: needsKey(store),
    })
    switch (step.step) {
      case 'record':
        await this.#write(policy, { ...rest, run: step.run }, signal)
        return 'again'
      case 'ask': {
        const verify = run.verify ?? 'Hash'
        const reason = await desk.ask({ question: step.question, store, verify }, signal)
        if (!reason) return step.untilMs
        this.#tellOnce(store, reason.code, reason.message)
        return now.getTime() + lookAgainMs
      }
      case 'wait':
        if (step.reason.code !== 'BackupRunning') this.#tellOnce(store, step.reason.code, step.reason.message)
        return step.untilMs
      case 'failed': {
        const lastFailure = { subject: run.subject, at: now.toISOString(), reason: step.reason }
        await this.#write(policy, { ...rest, lastFailure }, signal)
        this.#tell('Warning', step.reason.code, `store ${store.name}: ${step.reason.message}`)
        return 'again'
      }
      case 'succeeded': {
        const lastSuccess = successOf(run.subject, step.node, step.answer, step.at)
        await this.#write(policy, { ...rest, lastSuccess }, signal)
        this.#told.delete(store.name)
        this.#tell('Normal', 'BackupMade', `store ${store.name}: ${lastSuccess.location} (${lastSuccess.bytes} bytes)`)
        return 'again'
      }
    }
  }

  /** What a person asked for, where it is for this store. */
  #demand({ metadata, spec }: MaintenancePolicy, { name }: BackupStoreSpec): BackupDemand | undefined {
    const text = metadata.annotations?.[backupAnnotation]
    if (text === undefined) return undefined
    const { data } = backupDemandSchema.safeParse(json(text))
    if (!data) {
      this.#parts.ports.log.warn('a request for a backup cannot be read', { text })
      return undefined
    }
    return (data.store ?? spec.backupStores?.[0]?.name) === name ? data : undefined
  }

  /** Of stores that are gone. */
  async #dropRecords(
    policy: MaintenancePolicy,
    stores: readonly BackupStoreSpec[],
    signal: AbortSignal,
  ): Promise<void> {
    const backups = policy.status?.backups ?? []
    const kept = backups.filter(({ store }) => stores.some(({ name }) => name === store))
    if (kept.length < backups.length) await this.#patch(policy, kept, signal)
  }

  async #write(policy: MaintenancePolicy, record: StoreRecord, signal: AbortSignal): Promise<void> {
    const others = (policy.status?.backups ?? []).filter(({ store }) => store !== record.store)
    await this.#patch(policy, [...others, record], signal)
  }

  async #patch({ metadata }: MaintenancePolicy, backups: readonly StoreRecord[], signal: AbortSignal): Promise<void> {
    const { api } = this.#parts.ports
    const { uid, resourceVersion } = metadata
    const body = { metadata: { uid, resourceVersion }, status: { backups } }
    try {
      const patch = { type: 'merge', body } as const
      const written = await api.patch(maintenancePolicies, { name: policyName }, patch, signal, 'status')
      this.#parts.cluster.policies.learn(written)
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }

  #tellOnce({ name }: BackupStoreSpec, reason: Reason['code'], message: string): void {
    if (this.#told.get(name) === message) return
    this.#told.set(name, message)
    this.#tell('Warning', reason, `store ${name}: ${message}`)
  }

  #tell(type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { writablePolicy: policy } = this.#parts.cluster
    if (!policy) return
    const { apiVersion, kind } = maintenancePolicies
    const regarding = { apiVersion, kind, name: policyName, uid: policy.metadata.uid }
    this.#events.record({ regarding, type, reason, action: 'BackUp', note: note.slice(0, 1000) })
  }
}

function successOf(
  subject: string,
  node: string,
  { location, manifest }: BackupAnswer,
  at: Date,
): NonNullable<StoreRecord['lastSuccess']> {
  const { sha256 = '', bytes = 0, revision = '', verified = 'Hash', name = '' } = manifest ?? {}
  const made = { node, location: location ?? name, sha256, bytes, revision, verified, at: at.toISOString() }
  return { subject, name, ...made }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
