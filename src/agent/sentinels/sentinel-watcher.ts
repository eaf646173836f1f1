// Watches for the files (and asks the command) by which the host wants a reboot or maintenance, and says so in the status. It
// starts nothing: the operator decides whose turn it is. Without a configuration nothing is looked at.

import type { NodeState, SentinelFiles, Sentinels } from '../../api/node-state.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { lastWord } from '../../core/node/order.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Bell } from '../bell.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import { failurePath, forgetFailure, readFailure } from './maintenance-failure.ts'
import { isOfThisBoot, lookForReboot } from './reboot-wish.ts'
import { ringOnChange } from './ring-on-change.ts'
import { asks } from './sentinel-file.ts'
import { type Sighting, sentinelStatus } from './sentinel-status.ts'

export const sentinelWatcher: SideTask = {
  name: 'sentinels',
  run: (context, signal) => new SentinelWatch(context).run(signal),
}

interface OrderedBoot {
  /** The boot that it ends. */
  readonly from: string
  readonly at: string
}

class SentinelWatch {
  readonly #context: SideTaskContext
  readonly #bell = new Bell()
  #watched: SentinelFiles | undefined
  #lookout: LinkedAbort | undefined
  #before: Sentinels | undefined
  #isFirstLook = true
  /** The order whose maintenance was over at the last look. */
  #over: string | undefined

  constructor(context: SideTaskContext) {
    this.#context = context
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, nodeName } = this.#context
    const unsubscribe = store.subscribe(() => {
      if (this.#watched === undefined || !equalJson(this.#watched, store.get(nodeName)?.spec.sentinels))
        this.#bell.ring()
    })
    try {
      for (;;) {
        const state = store.get(nodeName)
        if (state) await this.#serve(state, signal)
        await this.#bell.heard(signal)
      }
    } finally {
      unsubscribe()
      this.#lookout?.abort('the watcher ended')
    }
  }

  async #serve(state: NodeState, signal: AbortSignal): Promise<void> {
    const wanted = state.spec.sentinels
    if (!equalJson(wanted, this.#watched)) this.#watch(wanted, signal)
    if (!wanted) {
      this.#before = undefined
      this.#context.publisher.publish({ sentinels: undefined })
      return
    }
    this.#before ??= state.status?.agent?.sentinels
    const seen = await this.#look(wanted, signal)
    this.#isFirstLook = false
    const after = sentinelStatus(this.#before, seen, this.#context.clock.now().toISOString())
    if (!equalJson(after, this.#before)) this.#context.log.info('sentinels changed', { sentinels: after })
    this.#before = after
    this.#context.publisher.publish({ sentinels: after })
  }

  #watch(wanted: SentinelFiles | undefined, signal: AbortSignal): void {
    this.#watched = wanted
    this.#lookout?.abort('other files are watched')
    this.#lookout = undefined
    if (!wanted) return
    const { maintenance } = wanted
    const paths = [
      ...(wanted.reboot ?? []),
      ...(maintenance ? [maintenance.required, maintenance.inProgress, failurePath(this.#context.stateDir)] : []),
    ]
    const lookout = new LinkedAbort(signal)
    this.#lookout = lookout
    ringOnChange(this.#context, paths, () => this.#bell.ring(), lookout.signal).catch((error: unknown) => {
      if (!lookout.signal.aborted) this.#context.log.error('the look-out for sentinels ended', { error: String(error) })
    })
  }

  async #look({ maintenance, ...reboot }: SentinelFiles, signal: AbortSignal): Promise<Sighting> {
    const { files } = this.#context.host
    const boot = this.#orderedBoot()
    const asked = await lookForReboot(this.#context, reboot, signal)
    const isServedBy = boot !== undefined && (await this.#isServedBy(boot, asked, signal))
    const wanted: Sighting = { ...asked, ...(isServedBy && { bootID: boot.from }) }
    if (!maintenance) return wanted
    // Read before the file is seen: one that is there after its maintenance has ended was made anew.
    const isServed = this.#isServed()
    const isAskedFor = await asks(files, maintenance.required)
    const maintenanceRequired = isAskedFor && (isServed ? ('Anew' as const) : true)
    const isThere = await asks(files, maintenance.inProgress)
    const isStale = isThere && this.#isStale(isAskedFor)
    if (isStale) {
      this.#context.log.warn('removing a stale file', { path: maintenance.inProgress })
      await files.remove(maintenance.inProgress)
    }
    const seen = { ...wanted, maintenanceRequired, maintenanceInProgress: isThere && !isStale }
    if (isAskedFor) return { ...seen, failure: await readFailure(files, this.#context.stateDir) }
    await forgetFailure(files, this.#context.stateDir)
    return seen
  }

  /** A boot that an order of this host has asked for and not told the end of. Read before the host is looked at. */
  #orderedBoot(): OrderedBoot | undefined {
    const { spec, status } = this.#context.store.get(this.#context.nodeName) ?? {}
    const told = status?.agent?.order
    const at = told?.steps.find(({ name, attempts }) => name === 'reboot' && attempts > 0)?.startedAt
    if (at === undefined || told?.finishedAt !== undefined || told?.id !== spec?.order?.id) return undefined
    const from = spec?.order?.bootID
    return from === undefined ? undefined : { from, at }
  }

  /**
   * An order asks the sentinels itself, and may boot the host before they were seen here: what the first look after that boot shows of
   * them asked for it, unless it was written since.
   */
  async #isServedBy(
    boot: OrderedBoot,
    { rebootRequired, rebootFiles = [], bootID }: Sighting,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!this.#isFirstLook || this.#before?.rebootRequired !== undefined) return false
    if (rebootRequired !== true || boot.from === bootID) return false
    if (rebootFiles.some(({ writtenAt }) => writtenAt !== undefined && writtenAt > boot.at)) return false
    for (const file of rebootFiles) if (await isOfThisBoot(this.#context.host, file, signal)) return false
    return true
  }

  /**
   * The request that was seen last was taken back when its maintenance was over, whether or not that was seen. Told once for each order:
   * by a clock that was set back any later request would be older than that, at each look.
   */
  #isServed(): boolean {
    const order = this.#context.store.get(this.#context.nodeName)?.status?.agent?.order
    const step = order?.steps.find(({ name, state }) => name === 'maintenance' && state === 'Succeeded')
    const isTold = step === undefined || order?.id === this.#over
    this.#over = step && order?.id
    return !isTold && Date.parse(step.finishedAt ?? '') >= Date.parse(this.#before?.maintenanceRequired ?? '')
  }

  /**
   * Left over from another time: a script would take it for permission to work on a node that is full. Where one asks, only the
   * first look tells: later the file may be of an order that the API has forgotten and this host still carries out.
   */
  #isStale(isAskedFor: boolean): boolean {
    // Read after the file was seen: an order comes before its file.
    const state = this.#context.store.get(this.#context.nodeName)
    const order = state?.spec.order
    const isOpen = state && order?.work.maintenance && order.desired !== 'Stage' && !lastWord(order, state)
    return !isOpen && (this.#isFirstLook || !isAskedFor)
  }
}
