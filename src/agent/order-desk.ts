// Takes the orders of this node one after another: judged by fencing, carried out, their end reported. Level-based: it looks at
// the NodeState as it is now, so nothing depends on having seen every change.

import { backupAbility } from '../api/backup-plan.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { AgentOrder, NodeState, Order } from '../api/node-state.ts'
import { isReasonCode, type Reason } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { equalJson } from '../core/merge-patch.ts'
import { driversFor } from '../core/update/drivers-for.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { CancelTimer } from '../ports/clock.ts'
import type { HostFacts } from '../ports/host.ts'
import { Bell } from './bell.ts'
import { carryOut, type Workshop } from './carry-out.ts'
import { judgeOrder, nodeUIDOf, type Verdict, whyStop } from './fencing.ts'
import { Journal } from './journal/journal.ts'
import type { EndState, OrderFolder } from './journal/order-folder.ts'
import { stepNamesOf } from './order-steps.ts'
import type { Publisher, Word } from './publisher.ts'
import { bareReport, endReport } from './report.ts'
import type { SideTask } from './side-task.ts'
import { stuckCode } from './stuck-disk.ts'

export interface OrderDeskOptions extends Omit<Workshop, 'tell'> {
  readonly publisher: Publisher
  readonly version: string
  /** Some of them the operator must know of before it asks. */
  readonly sideTasks?: readonly Pick<SideTask, 'name'>[]
}

/** What an order was answered to: only a difference in this asks for another answer. */
interface Answered {
  readonly order: Order
  readonly nodeUID: string | undefined
}

const retryBackOff = { baseMs: 5_000, maxMs: 60_000 }
const versionsOnOffer = 100
/** A host changes by other hands, too. What is published is only what became different. */
const lookEveryMs = 600_000

export class OrderDesk {
  readonly #options: OrderDeskOptions
  readonly #shop: Workshop
  readonly #bell = new Bell()
  #journal: Journal | undefined
  #epoch = 0
  #recovered = false
  #facts: HostFacts = { os: '', kernel: '', architecture: '', versionsOnOffer: [] }
  #bootId = ''
  #isDue = false
  #rollCall: string | undefined
  #cancelLook: CancelTimer | undefined
  #report: AgentOrder | undefined
  #answered: Answered | undefined
  /** Orders that have staged and wait for the word to run. */
  readonly #staged = new Map<string, OrderFolder>()

  constructor(options: OrderDeskOptions) {
    this.#options = options
    this.#shop = {
      ...options,
      tell: (report, withinMs) => {
        this.#report = report
        this.#publish(withinMs)
      },
    }
  }

  /** Works until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, random } = this.#options
    const unsubscribe = store.subscribe(() => this.#bell.ring())
    let failures = 0
    try {
      for (;;) {
        try {
          await this.#serve(signal)
          failures = 0
          await this.#bell.heard(signal)
        } catch (error) {
          if (signal.aborted) throw error
          failures += 1
          this.#explain(error)
          await sleep(clock, backOffMs(retryBackOff, failures, random), signal)
        }
      }
    } finally {
      this.#cancelLook?.()
      unsubscribe()
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    if (this.#bootId === '') {
      this.#facts = await this.#options.host.facts(signal)
      this.#bootId = await this.#options.host.bootId()
    }
    this.#journal ??= await Journal.open(this.#options.host.disk, this.#options.stateDir)
    if (!this.#recovered) await this.#recover(this.#journal, signal)
    await this.#dropReplaced(signal)
    await this.#repeatEnd(this.#journal)
    for (;;) {
      const open = this.#openOrder()
      if (!open) break
      await this.#answer(this.#journal, open, signal)
      this.#answered = open
    }
    if (this.#isDue) await this.#lookAtHost(signal)
    // Nothing is under way now, and whatever this NodeState asks for has its answer.
    this.#rollCall = this.#state()?.spec.rollCall
    this.#publish()
    this.#cancelLook ??= this.#options.clock.after(lookEveryMs, () => {
      this.#cancelLook = undefined
      this.#isDue = true
      this.#bell.ring()
    })
  }

  /** What an earlier life of this agent left unfinished is finished first, also with the API away. */
  async #recover(journal: Journal, signal: AbortSignal): Promise<void> {
    for (const folder of await journal.unended()) await this.#carryOut(folder, undefined, signal)
    this.#recovered = true
  }

  /** What was staged for an order that is not wanted any more is closed: it can never start. */
  async #dropReplaced(signal: AbortSignal): Promise<void> {
    const { isSynced } = this.#options
    if (!isSynced()) return
    for (const [id, folder] of this.#staged) {
      const reason = whyStop(folder.accepted.order, this.#state())
      if (!reason) continue
      this.#staged.delete(id)
      const report = await carryOut(this.#shop, folder, reason, signal)
      // Another order may be the talk of the node by now.
      if (this.#report?.id === id) this.#tell(report)
    }
  }

  /** The order that waits for an answer. */
  #openOrder(): Answered | undefined {
    const state = this.#state()
    if (!state?.spec.order || state.metadata.deletionTimestamp !== undefined) return undefined
    const open = { order: state.spec.order, nodeUID: nodeUIDOf(state) }
    return equalJson(open, this.#answered) ? undefined : open
  }

  /**
   * Nothing is begun for a NodeState that is being deleted. But it goes only after the word on its order, which an earlier life may
   * have written down without telling it.
   */
  async #repeatEnd(journal: Journal): Promise<void> {
    const state = this.#state()
    if (!state?.spec.order || state.metadata.deletionTimestamp === undefined) return
    if (this.#report?.id === state.spec.order.id) return
    const { verdict } = await this.#judge(journal, { order: state.spec.order, nodeUID: nodeUIDOf(state) })
    if (verdict.verdict === 'repeat') this.#tell(verdict.report)
  }

  async #judge(
    journal: Journal,
    { order, nodeUID }: Answered,
  ): Promise<{ readonly verdict: Verdict; readonly folder: OrderFolder | undefined }> {
    const { drivers } = this.#options
    const folder = await journal.find(order.id)
    const verdict = judgeOrder({
      order,
      nodeUID,
      record: journal.record,
      journalled: folder && { order: folder.accepted.order, ...(folder.end && { end: folder.end.report }) },
      withoutDriver: driversFor(order.work).filter((name) => !drivers.some((driver) => driver.name === name)),
    })
    return { verdict, folder }
  }

  async #answer(journal: Journal, open: Answered, signal: AbortSignal): Promise<void> {
    const { drivers, clock, log } = this.#options
    const { order } = open
    const { verdict, folder } = await this.#judge(journal, open)
    logVerdict(log, order, verdict)
    switch (verdict.verdict) {
      case 'repeat':
        this.#tell(verdict.report)
        return
      case 'accept': {
        await journal.remember({ epoch: order.epoch, nodeUID: order.nodeUID })
        const names = stepNamesOf(order, drivers)
        await this.#carryOut(await journal.create(order, names, clock.now()), undefined, signal)
        return
      }
      case 'resume':
        if (folder) await this.#carryOut(folder, undefined, signal)
        return
      case 'withdraw':
        if (folder) await this.#carryOut(folder, verdict.reason, signal)
        else await this.#closeUnrun(journal, order, 'Withdrawn', verdict.reason)
        return
      case 'refuse':
        if (folder) this.#tell(bareReport(order.id, 'Refused', verdict.reason))
        else await this.#closeUnrun(journal, order, 'Refused', verdict.reason)
        return
    }
  }

  async #carryOut(folder: OrderFolder, stop: Reason | undefined, signal: AbortSignal): Promise<void> {
    const report = await carryOut(this.#shop, folder, stop, signal)
    if (report.state === 'Staged') this.#staged.set(report.id, folder)
    else this.#staged.delete(report.id)
    await this.#lookAtHost(signal)
    this.#tell(report)
  }

  /** Journalled so that it can never start, whatever is seen later. */
  async #closeUnrun(journal: Journal, order: Order, state: EndState, reason: Reason): Promise<void> {
    const now = this.#options.clock.now()
    const folder = await journal.create(order, { steps: [], undo: [] }, now)
    const report = endReport(folder, [], { state, finishedAt: now, reason })
    await folder.close(state, report)
    this.#tell(report)
  }

  async #lookAtHost(signal: AbortSignal): Promise<void> {
    this.#isDue = false
    try {
      this.#facts = await this.#options.host.facts(signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#options.log.warn('cannot look at the host; the facts of before are reported', { error: String(error) })
    }
  }

  /** Says in log and status why an order does not go on. It may pass, or a person may repair it: it is looked at again. */
  #explain(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const code = error instanceof SlipwayError ? error.code : 'Internal'
    this.#options.log.error('cannot go on', { code, error: message })
    // Read everything again: what is in memory may be ahead of the disk.
    this.#journal = undefined
    this.#recovered = false
    this.#staged.clear()
    const order = this.#state()?.spec.order
    if (!order || isKubeError(error)) return
    const stuck = stuckCode(error, this.#options.stateDir)
    if (stuck) this.#tell(bareReport(order.id, 'RequiresAttention', { code: stuck, message: message.slice(0, 4096) }))
    else this.#tellTrouble(order, { code: isReasonCode(code) ? code : 'StepFailed', message })
  }

  /** What keeps an order from going on, beside how far it came. */
  #tellTrouble({ id }: Order, { code, message }: Reason): void {
    const reason: Reason = { code, message: `trying again: ${message}`.slice(0, 4096) }
    const before = this.#report?.id === id ? this.#report : bareReport(id, 'Accepted', reason)
    const hasEnded = before.finishedAt !== undefined || before.state === 'Refused'
    // Before the first look at the host there is nothing to be said of it.
    if (!hasEnded && this.#bootId !== '') this.#tell({ ...before, reason })
  }

  #tell(report: AgentOrder): void {
    this.#report = report
    this.#publish()
  }

  #publish(withinMs?: number): void {
    const { publisher, version, drivers, sideTasks = [] } = this.#options
    this.#epoch = this.#journal?.record.epoch ?? this.#epoch
    const word: Word = {
      version,
      bootID: this.#bootId,
      epoch: this.#epoch,
      drivers: [...drivers, ...sideTasks.filter(({ name }) => name === backupAbility)].map(({ name }) => name),
      facts: { ...this.#facts, versionsOnOffer: this.#facts.versionsOnOffer.slice(0, versionsOnOffer) },
      ...(this.#report && { order: this.#report }),
      ...(this.#rollCall !== undefined && { rollCall: this.#rollCall }),
    }
    publisher.publish(word, withinMs)
  }

  #state(): NodeState | undefined {
    return this.#options.store.get(this.#options.nodeName)
  }
}

function logVerdict(log: OrderDeskOptions['log'], order: Order, verdict: Verdict): void {
  const reason = 'reason' in verdict ? { reason: verdict.reason.code, message: verdict.reason.message } : {}
  log.info('order judged', { order: order.id, verdict: verdict.verdict, ...reason })
}
