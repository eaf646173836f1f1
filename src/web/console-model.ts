// What the page is told: the whole once, then what changed, gathered for a moment. Nothing is worked out that nobody changed.

import type {
  CauseView,
  ConsoleChange,
  ConsoleState,
  NodeTile,
  PolicyView,
  RunView,
  ScheduleView,
  UpdateView,
} from '../api/console.ts'
import type { TroubleView } from '../api/console-trouble.ts'
import { policyName } from '../api/maintenance-policy.ts'
import { roleOf } from '../core/node/node-facts.ts'
import { storeViews } from '../core/view/backup-view.ts'
import { budgetViews } from '../core/view/budget-view.ts'
import { calendarView, windowNow } from '../core/view/calendar-view.ts'
import { causesOf } from '../core/view/causes.ts'
import { scheduledView, scheduleView } from '../core/view/schedule-view.ts'
import { runsOf, updateView } from '../core/view/update-view.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterWatch } from './cluster-watch.ts'
import { Fleet } from './fleet.ts'

export interface ModelOptions {
  readonly watch: ClusterWatch
  readonly clock: Clock
  readonly clusterClock: Clock
  readonly cluster: ConsoleState['cluster']
  readonly onChange: (change: ConsoleChange) => void
}

/** Changes are gathered for so long. */
const gatherMs = 80
/** What only time changes (a window closes, a forecast moves) is looked at this often. */
const tickMs = 15_000

export class ConsoleModel {
  readonly #options: ModelOptions
  readonly #fleet: Fleet
  readonly #updates = new Map<string, UpdateView>()
  readonly #schedules = new Map<string, ScheduleView>()
  #cluster: ConsoleState['cluster']
  #policy: PolicyView
  #causes: readonly CauseView[] = []
  #runs: readonly RunView[] = []
  #trouble: TroubleView | undefined
  #missing: readonly string[] = []
  #dirty = clean()
  #scheduled = false

  constructor(options: ModelOptions) {
    this.#options = options
    this.#cluster = options.cluster
    this.#fleet = new Fleet(options.watch)
    this.#policy = this.#policyView()
    const { watch } = options
    watch.nodes.subscribe(({ key }) => this.#mark(() => this.#dirty.nodes.add(key)))
    watch.states.subscribe(({ key }) => this.#mark(() => this.#dirty.nodes.add(key)))
    watch.updates.subscribe(({ key }) => this.#mark(() => this.#dirty.updates.add(key)))
    watch.policies.subscribe(() => this.#mark(() => this.#markPolicy()))
    for (const store of [watch.scheduled, watch.schedules]) {
      store.subscribe(() =>
        this.#mark(() => {
          this.#dirty.schedules = true
        }),
      )
    }
    watch.onHealth(() => this.#mark(() => undefined))
  }

  /** What only time changes is kept up, until aborted. */
  tick(signal: AbortSignal): void {
    const again = () => {
      cancel = this.#options.clock.after(tickMs, again)
      this.#mark(() => {
        this.#markPolicy()
        for (const [name, { endsAt }] of this.#updates) if (endsAt) this.#dirty.updates.add(name)
      })
    }
    let cancel = this.#options.clock.after(tickMs, again)
    signal.addEventListener('abort', () => cancel(), { once: true })
  }

  setKubernetes(kubernetes: string): void {
    if (kubernetes === this.#cluster.kubernetes) return
    this.#cluster = { ...this.#cluster, kubernetes }
    this.#dirty.cluster = true
    this.#mark(() => undefined)
  }

  tile(node: string): NodeTile | undefined {
    return this.#fleet.tiles.get(node)
  }

  update(name: string): UpdateView | undefined {
    return this.#updates.get(name)
  }

  state(): ConsoleState {
    this.flush()
    return {
      at: this.#now().toISOString(),
      cluster: this.#cluster,
      nodes: Object.fromEntries(this.#fleet.tiles),
      updates: Object.fromEntries(this.#updates),
      schedules: Object.fromEntries(this.#schedules),
      policy: this.#policy,
      causes: this.#causes,
      runs: this.#runs,
      ...(this.#trouble && { trouble: this.#trouble }),
      missing: this.#missing,
    }
  }

  /** Works out what changed and tells it. */
  flush(): void {
    const dirty = this.#dirty
    this.#dirty = clean()
    const { tiles, updates } = this.#fleet.refresh(dirty)
    const updateChanges = this.#refreshUpdates(updates)
    const touches = tiles.size > 0 || updates.size > 0 || dirty.policy
    const change: ConsoleChange = {
      at: this.#now().toISOString(),
      ...(tiles.size > 0 && { nodes: Object.fromEntries(tiles) }),
      ...(updateChanges.size > 0 && { updates: Object.fromEntries(updateChanges) }),
      ...(dirty.schedules && this.#refreshSchedules()),
      ...(touches && this.#refreshPolicy()),
      ...(touches && this.#refreshCauses()),
      ...(updates.size > 0 && this.#refreshRuns()),
      ...(dirty.cluster && { cluster: this.#cluster }),
      ...this.#refreshHealth(),
    }
    if (Object.keys(change).length > 1) this.#options.onChange(change)
  }

  #now(): Date {
    return this.#options.clusterClock.now()
  }

  #markPolicy(): void {
    this.#dirty.policy = true
  }

  #mark(what: () => void): void {
    what()
    if (this.#scheduled) return
    this.#scheduled = true
    this.#options.clock.after(gatherMs, () => {
      this.#scheduled = false
      this.flush()
    })
  }

  #refreshUpdates(names: ReadonlySet<string>): ReadonlyMap<string, UpdateView | null> {
    const { watch } = this.#options
    const policy = watch.policies.get(policyName)?.spec
    const changed = new Map<string, UpdateView | null>()
    for (const name of names) {
      const update = watch.updates.get(name)
      const roster = this.#fleet.roster(name)
      const before = this.#updates.get(name)
      if (!update || !roster) {
        if (this.#updates.delete(name)) changed.set(name, null)
        continue
      }
      const view = updateView({ update, roster, policy, now: this.#now() })
      if (before && isSame(before, view)) continue
      this.#updates.set(name, view)
      changed.set(name, view)
    }
    return changed
  }

  #refreshSchedules(): Pick<ConsoleChange, 'schedules'> {
    const { watch } = this.#options
    const views = new Map<string, ScheduleView>()
    // Of both kinds there may be one of a name.
    for (const one of watch.scheduled.values()) views.set(`ScheduledUpdate/${one.metadata.name}`, scheduledView(one))
    for (const one of watch.schedules.values()) views.set(`UpdateSchedule/${one.metadata.name}`, scheduleView(one))
    const schedules: Record<string, ScheduleView | null> = {}
    for (const name of this.#schedules.keys()) if (!views.has(name)) schedules[name] = null
    for (const [name, view] of views) {
      const before = this.#schedules.get(name)
      if (!before || !isSame(before, view)) schedules[name] = view
    }
    this.#schedules.clear()
    for (const [name, view] of views) this.#schedules.set(name, view)
    return Object.keys(schedules).length > 0 ? { schedules } : {}
  }

  #refreshPolicy(): Pick<ConsoleChange, 'policy'> {
    const policy = this.#policyView()
    if (isSame(policy, this.#policy)) return {}
    this.#policy = policy
    return { policy }
  }

  #policyView(): PolicyView {
    const { watch } = this.#options
    const policy = watch.policies.get(policyName)
    const now = this.#now()
    const controlPlane = [...watch.states.values()].filter(({ metadata }) => {
      const node = watch.nodes.get(metadata.name)
      return node !== undefined && roleOf(node) === 'ControlPlane'
    })
    return {
      paused: policy?.spec.paused ?? false,
      epoch: policy?.status?.ledger?.epoch ?? 0,
      budgets: budgetViews({ nodes: watch.nodes.values(), policy, tileOf: (name) => this.#fleet.tiles.get(name) }),
      calendar: calendarView(policy?.spec, this.#updates.values(), now),
      window: windowNow(policy?.spec, now),
      stores: policy ? storeViews(policy, watch.updates.values(), controlPlane) : [],
    }
  }

  #refreshCauses(): Pick<ConsoleChange, 'causes'> {
    const { watch } = this.#options
    const causes = causesOf({
      updates: watch.updates.values(),
      policy: watch.policies.get(policyName),
      waiting: [...this.#fleet.waiting].flatMap((name) => this.#fleet.tiles.get(name) ?? []),
      stateOf: (node) => watch.states.get(node),
    })
    if (isSame(causes, this.#causes)) return {}
    this.#causes = causes
    return { causes }
  }

  #refreshRuns(): Pick<ConsoleChange, 'runs'> {
    const runs = [...this.#options.watch.updates.values()]
      .flatMap(runsOf)
      .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
    if (isSame(runs, this.#runs)) return {}
    this.#runs = runs
    return { runs }
  }

  #refreshHealth(): Pick<ConsoleChange, 'trouble' | 'missing'> {
    const { trouble, missing } = this.#options.watch
    const hasTurned = trouble !== this.#trouble
    const isOther = missing.join() !== this.#missing.join()
    this.#trouble = trouble
    this.#missing = missing
    return { ...(hasTurned && { trouble: trouble ?? null }), ...(isOther && { missing }) }
  }
}

interface Marks {
  readonly nodes: Set<string>
  readonly updates: Set<string>
  policy: boolean
  schedules: boolean
  cluster: boolean
}

function clean(): Marks {
  return { nodes: new Set(), updates: new Set(), policy: false, schedules: false, cluster: false }
}

/** Small values, and made by us: their texts are equal where they are. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
