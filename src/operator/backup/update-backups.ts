// Backups of updates: whether a node may be taken, and making the backup that is missing. One is made only when nothing else
// stands in a node's way: an update that waits for its window does not make one every hour.

import type { BackupAnswer } from '../../api/backup.ts'
import { type BackupRun, maxUpdateBackups, type UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import { backupNeed, backupStep, goodBackup, pointOf } from '../../core/backup/need.ts'
import { type Question, questionOf, stepRun } from '../../core/backup/run.ts'
import { isEndedPhase, operationID } from '../../core/update/operation.ts'
import type { LastCheck } from '../update/terms.ts'
import type { UpdateRecord } from '../update/update-record.ts'
import { type BackupParts, eachInTurn, lookAgainMs } from './backup-parts.ts'
import { ExpectedBackups } from './expected-backups.ts'

/** More steps than a run takes in a row. */
const maxSteps = 8

interface Wanted {
  readonly operationID: string
  readonly step: string
}

export class UpdateBackups {
  readonly #parts: BackupParts
  readonly #record: UpdateRecord
  /** What the last pass over the ledger found missing, by update. */
  readonly #wanted = new Map<string, Wanted>()
  /** Why it is not there yet. */
  readonly #reasons = new Map<string, Reason>()
  readonly #expected: ExpectedBackups

  constructor(parts: BackupParts, record: UpdateRecord) {
    this.#parts = parts
    this.#record = record
    this.#expected = new ExpectedBackups(parts.ports.clock)
  }

  /** Why this node may not be taken before a backup is made. Ask it last: asking starts one. */
  obstacle(name: string, check: LastCheck): Reason | undefined {
    const missing = this.#missing(name, check)
    const isLacking = missing !== undefined && 'step' in missing
    this.#expected.note(name, check.isEarly && isLacking)
    if (!isLacking) return missing
    if (check.isEarly) return undefined
    if (this.#wanted.get(name)?.step !== missing.step) this.#reasons.delete(name)
    this.#wanted.set(name, missing)
    this.#parts.wake()
    return this.#reasons.get(name) ?? { code: 'BackupRunning', message: 'a backup of etcd is about to be made' }
  }

  /** The backup it lacks for this node, or why there can be none. */
  #missing(name: string, { role, work, hasBegunWorkers }: LastCheck): Wanted | Reason | undefined {
    const { cluster, ports } = this.#parts
    const update = cluster.updates.get(name)
    const need = update && backupNeed(update.spec, cluster.policy?.spec)
    if (!update || need?.need === 'none' || need === undefined) return undefined
    const point = pointOf(role, hasBegunWorkers)
    if (need.need === 'refused') return need.reason
    if (point === undefined || !need.terms.before.includes(point)) return undefined
    const step = backupStep(point, work)
    // What stands there until the new operation has its own status belongs to the last one.
    const run = operationID(update)
    const backups = update.status?.operationID === run ? update.status.backups : undefined
    return goodBackup(backups, step, need.terms, ports.clock.now()) ? undefined : { operationID: run, step }
  }

  isWanted(name: string): boolean {
    return this.#wanted.has(name)
  }

  /** One is wanted, and nobody has looked for a host for it yet; or one may be wanted in a moment. */
  next(): { readonly untilMs?: number } | undefined {
    const { updates } = this.#parts.cluster
    const isOpen = (name: string) => !this.#reasons.has(name) && updates.get(name)?.status?.backupRun === undefined
    return [...this.#wanted.keys()].some(isOpen) ? {} : this.#expected.next()
  }

  /** The questions that stand for updates. */
  questions(): readonly Question[] {
    return [...this.#parts.cluster.updates.values()].flatMap((update) => {
      const run = isGoingOn(update) ? update.status?.backupRun : undefined
      return (run && questionOf(update.metadata.name, run)) ?? []
    })
  }

  /** Brings all of them on; says when to look again. */
  async advance(signal: AbortSignal): Promise<readonly number[]> {
    const { cluster } = this.#parts
    for (const name of this.#wanted.keys()) if (!isGoingOn(cluster.updates.get(name))) this.#forget(name)
    const names = [...cluster.updates.values()]
      .filter(({ metadata, status }) => status?.backupRun !== undefined || this.#wanted.has(metadata.name))
      .map(({ metadata }) => metadata.name)
    return eachInTurn(names, (name) => this.#follow(name, signal))
  }

  async #follow(name: string, signal: AbortSignal): Promise<number | undefined> {
    for (let steps = 0; steps < maxSteps; steps++) {
      const untilMs = await this.#step(name, signal)
      if (untilMs !== 'again') return untilMs
    }
    return this.#parts.ports.clock.now().getTime() + 1000
  }

  async #step(name: string, signal: AbortSignal): Promise<number | 'again' | undefined> {
    const { cluster, ports, desk, hosts, needsKey } = this.#parts
    const update = cluster.updates.get(name)
    const need = update && backupNeed(update.spec, cluster.policy?.spec)
    if (!update || !isGoingOn(update)) return this.#forget(name)
    const { backupRun: run, backups } = update.status ?? {}
    if (need?.need !== 'wanted') return run ? this.#giveUp(name, backups, signal) : this.#forget(name)
    const wanted = this.#wanted.get(name)
    if (wanted && wanted.operationID !== update.status?.operationID) return undefined
    // What a host was asked for is followed to its end, whatever is wanted by now: until then it can be asked for nothing else.
    const isAsked = run?.node !== undefined
    const subject = isAsked ? run.subject : (wanted?.step ?? run?.subject)
    const now = ports.clock.now()
    const { terms } = need
    if (subject === undefined) return undefined
    if (!isAsked && goodBackup(backups, subject, terms, now)) {
      // One that was too old may be young enough by a clock that was put back: whoever waits for another need not.
      if (wanted) this.#parts.wakeGrants()
      return this.#forget(name)
    }
    const retry = update.spec.retry?.nodes ? undefined : update.spec.retry?.token
    const isExternal = cluster.policy?.spec.etcd !== undefined
    const step = stepRun({
      ...{ run, subject, label: name, hosts: hosts(), now, retry, isExternal },
      needsKey: needsKey(terms.store),
    })
    switch (step.step) {
      case 'record':
        await this.#write(name, { run: step.run, backups }, signal)
        if (step.failure)
          this.#tell(update, 'Warning', 'BackupFailed', `${step.failure.node}: ${step.failure.reason.message}`)
        return 'again'
      case 'ask': {
        const reason = await desk.ask({ question: step.question, store: terms.store, verify: terms.verify }, signal)
        this.#say(name, named(reason ?? step.reason, terms.store.name))
        return reason ? now.getTime() + lookAgainMs : step.untilMs
      }
      case 'wait':
        this.#say(name, named(step.reason, terms.store.name))
        return step.untilMs
      case 'failed':
        this.#say(name, named(step.reason, terms.store.name))
        return undefined
      case 'succeeded': {
        const made = entryOf(subject, step.node, step.answer, step.at)
        await this.#write(
          name,
          { run: undefined, backups: [...(backups ?? []), made].slice(-maxUpdateBackups) },
          signal,
        )
        this.#tell(
          update,
          'Normal',
          'BackupMade',
          `before ${subject}: ${made.location} (${made.bytes} bytes, checked by ${made.verified})`,
        )
        this.#forget(name)
        this.#parts.wakeGrants()
        return undefined
      }
    }
  }

  /** Nobody can bring it to an end any more: the host is let go, for others to ask. */
  async #giveUp(name: string, backups: readonly UpdateBackup[] | undefined, signal: AbortSignal): Promise<undefined> {
    await this.#write(name, { run: undefined, backups }, signal)
    this.#parts.wake()
    return this.#forget(name)
  }

  #write(
    name: string,
    {
      run: backupRun,
      backups,
    }: { readonly run: BackupRun | undefined; readonly backups: readonly UpdateBackup[] | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const part = { backupRun, ...(backups && { backups: [...backups] }) }
    return this.#record.writeStatus(name, (_now, { status }) => ({ ...status, ...part }), signal)
  }

  /** Whoever waits is told when it is another reason. */
  #say(name: string, reason: Reason): void {
    const before = this.#reasons.get(name)
    this.#reasons.set(name, reason)
    if (before?.message !== reason.message) this.#parts.wakeGrants()
  }

  #tell(update: DirectUpdate, type: 'Normal' | 'Warning', reason: string, note: string): void {
    this.#record.say(update, { type, reason, action: 'BackUp', note })
  }

  #forget(name: string): undefined {
    this.#wanted.delete(name)
    this.#reasons.delete(name)
  }
}

function isGoingOn(update: DirectUpdate | undefined): boolean {
  if (!update || update.metadata.deletionTimestamp !== undefined) return false
  return !isEndedPhase(update.status?.phase) && update.spec.desiredState !== 'Cancelled'
}

/** By the leader's clock: the same one tells later how old it is. */
function entryOf(step: string, node: string, { store, location, manifest }: BackupAnswer, made: Date): UpdateBackup {
  const { sha256 = '', bytes = 0, revision = '', verified = 'Hash', name } = manifest ?? {}
  const at = made.toISOString()
  return { step, store, node, location: location ?? name ?? '', sha256, bytes, revision, verified, at }
}

function named(reason: Reason, store: string): Reason {
  return { ...reason, message: `${reason.message} (store ${store})` }
}
