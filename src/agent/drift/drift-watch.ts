// Compares the host with its desired state while no order is open: when a managed file changes, and from time to time. Puts
// right what disturbs nobody where the profiles say so; all else it reports.

import type { AgentStatus, NodeState } from '../../api/node-state.ts'
import type { AppliedState } from '../../api/profile-record.ts'
import { parseDuration } from '../../core/duration.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { backOffMs } from '../../kube/back-off.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { sleep } from '../../kube/sleep.ts'
import { Bell } from '../bell.ts'
import { wantedRepositories } from '../drivers/profile/package-work.ts'
import { recordShelf } from '../drivers/profile/record.ts'
import type { Site } from '../drivers/profile/site.ts'
import { ringOnChange } from '../sentinels/ring-on-change.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import type { Turn } from '../turn.ts'
import { type DriftTools, type Finding, findDrift, repairDrift } from './find-drift.ts'

export interface DriftWatchOptions extends DriftTools {
  readonly turn: Turn
  readonly open: Site['open']
}

export function driftWatch(options: DriftWatchOptions): SideTask {
  return { name: 'drift', run: (context, signal) => new DriftWatch(context, options).run(signal) }
}

type DriftSpec = NonNullable<NodeState['spec']['drift']>
type ProfileStatus = NonNullable<AgentStatus['profile']>

interface Watched {
  readonly drift: DriftSpec
  readonly applied: string
}

/** Who repairs at once what another tool changes at once would do nothing else. */
const calmBackOff = { baseMs: 2_000, maxMs: 300_000 }
const itemsAtMost = 20

class DriftWatch {
  readonly #context: SideTaskContext
  readonly #options: DriftWatchOptions
  readonly #site: Site
  readonly #bell = new Bell()
  #watched: Watched | undefined
  #lookout: LinkedAbort | undefined
  #said: ProfileStatus | undefined
  #repairs = 0
  #lastEnd: string | undefined

  constructor(context: SideTaskContext, options: DriftWatchOptions) {
    this.#context = context
    this.#options = options
    const { host, stateDir } = context
    this.#site = { host, record: recordShelf(host.disk, stateDir), open: options.open }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, random } = this.#context
    const unsubscribe = store.subscribe(() => {
      if (this.#isNews()) this.#bell.ring()
    })
    try {
      for (;;) {
        await this.#serve(signal)
        if (this.#repairs > 0) await sleep(clock, backOffMs(calmBackOff, this.#repairs, random), signal)
        await this.#bell.heard(signal)
      }
    } finally {
      unsubscribe()
      this.#lookout?.abort('the watch for drift ended')
    }
  }

  /** Our own reports come back through the watch; they ask for nothing. */
  #isNews(): boolean {
    const state = this.#state()
    const wanted = state && this.#wanted(state)
    if (!equalJson(wanted, this.#watched?.drift) || !equalJson(this.#said, state?.status?.agent?.profile)) return true
    return lastEnd(state) !== this.#lastEnd
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const state = this.#state()
    if (!state) return
    this.#said ??= state.status?.agent?.profile
    this.#lastEnd = lastEnd(state)
    const { applied } = await this.#site.record.load()
    const drift = this.#wanted(state)
    // What is not applied yet is a roll-out's business, not drift.
    const isApplied = drift !== undefined && applied?.sha256 === drift.desired.sha256
    await this.#watch(isApplied ? drift : undefined, applied, signal)
    if (!applied || !isApplied) {
      this.#repairs = 0
      this.#publish(applied && { applied: applied.sha256, appliedAt: applied.at })
      return
    }
    await this.#compare(applied, drift, signal)
  }

  async #compare(applied: AppliedState, { action }: DriftSpec, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context
    const found = await findDrift(this.#site, applied.state, this.#options, signal)
    const repaired = action === 'Repair' ? await this.#repair(applied, found, signal) : []
    const left = repaired.length > 0 ? await findDrift(this.#site, applied.state, this.#options, signal) : found
    const gone = repaired.filter((item) => !left.some((finding) => finding.item === item))
    this.#repairs = repaired.length > 0 ? this.#repairs + 1 : 0
    if (gone.length > 0) log.info('drift repaired', { items: gone })
    const at = clock.now().toISOString()
    const drift = left.slice(0, itemsAtMost).map(({ item, reason }) => ({ item, reason }))
    const before = this.#said
    const same = before?.applied === applied.sha256 && before.checkedAt && equalJson(before.drift ?? [], drift)
    if (!same && drift.length > 0) log.warn('the host has drifted from its profiles', { drift })
    this.#publish({
      applied: applied.sha256,
      appliedAt: applied.at,
      checkedAt: same ? before.checkedAt : at,
      ...(gone.length > 0
        ? { repaired: { at, items: gone.slice(0, itemsAtMost) } }
        : before?.repaired && { repaired: before.repaired }),
      ...(drift.length > 0 && { drift }),
    })
  }

  /** The items it tried to put right. */
  async #repair(applied: AppliedState, found: readonly Finding[], signal: AbortSignal): Promise<readonly string[]> {
    const calm = found.filter(({ level, kind }) => level === 'None' && kind === 'Setting')
    if (calm.length === 0) return []
    return await this.#options.turn.take(async () => {
      const state = this.#state()
      const { applied: now } = await this.#site.record.load()
      if (!state || !this.#wanted(state) || now?.sha256 !== applied.sha256) return []
      try {
        await repairDrift(this.#site, applied.state, calm, signal)
      } catch (error) {
        if (signal.aborted) throw error
        this.#context.log.warn('drift could not be repaired', { error: String(error) })
      }
      return calm.map(({ item }) => item)
    })
  }

  async #watch(drift: DriftSpec | undefined, applied: AppliedState | undefined, signal: AbortSignal): Promise<void> {
    const wanted = drift && applied && { drift, applied: applied.sha256 }
    if (equalJson(wanted, this.#watched)) return
    this.#watched = wanted
    this.#lookout?.abort('something else is watched')
    this.#lookout = undefined
    if (!wanted || !applied) return
    const repositories = await wantedRepositories(this.#site.host, applied.state, signal)
    const paths = [...applied.state.files, ...repositories].map(({ path }) => path)
    const lookout = new LinkedAbort(signal)
    this.#lookout = lookout
    const checkMs = parseDuration(wanted.drift.check)
    ringOnChange({ ...this.#context, checkMs }, paths, () => this.#bell.ring(), lookout.signal).catch(
      (error: unknown) => {
        if (!lookout.signal.aborted) this.#context.log.error('the look-out for drift ended', { error: String(error) })
      },
    )
  }

  #publish(profile: ProfileStatus | undefined): void {
    this.#said = profile
    this.#context.publisher.publish({ profile })
  }

  /** Undefined while an order is open. */
  #wanted({ spec, status }: NodeState): DriftSpec | undefined {
    const { order, drift } = spec
    const report = status?.agent?.order
    const isOver = !order || (report?.id === order.id && report.finishedAt !== undefined)
    return isOver ? drift : undefined
  }

  #state(): NodeState | undefined {
    const { store, nodeName } = this.#context
    return store.get(nodeName)
  }
}

/** Changes whenever an order has ended: it may have applied another state. */
function lastEnd(state: NodeState | undefined): string | undefined {
  const report = state?.status?.agent?.order
  return report?.finishedAt === undefined ? undefined : `${report.id} ${report.finishedAt}`
}
