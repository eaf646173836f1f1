// What the leader does during one term: wires the watches to the queues and the queues to the controllers. Nothing here
// outlives the term; the next leader starts from what the API says.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import type { NodeState } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { rollCallDue } from '../core/ledger/roll-call.ts'
import { ownerOfOperation } from '../core/update/operation.ts'
import type { Reconcile } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { Backups } from './backup/backups.ts'
import { Cluster } from './cluster/cluster.ts'
import { runCupcake } from './compat/cupcake.ts'
import { runHousekeeper } from './compat/housekeeper-controller.ts'
import { ControlPlaneEyes } from './control-plane/control-plane-eyes.ts'
import { BudgetKeepers } from './drain/budget-keepers.ts'
import { BudgetWatch } from './drain/budget-watch.ts'
import { OwnPods } from './drain/own-pods.ts'
import { VolumeWatch } from './drain/volume-watch.ts'
import { Checkpoints } from './gates/checkpoints.ts'
import { Gates } from './gates/gates.ts'
import { JobRuns } from './gates/job-runs.ts'
import { SharedWatches } from './gates/shared-watches.ts'
import { Hooks } from './hooks/hooks.ts'
import { runJanitor } from './janitor/janitor.ts'
import { callRoll } from './ledger/call-roll.ts'
import { ForeignLocks } from './ledger/foreign-locks.ts'
import { GrantPass } from './ledger/grant-pass.ts'
import { LedgerBook } from './ledger/ledger-book.ts'
import { makeMaintenanceReconcile } from './maintenance/maintenance-controller.ts'
import { MaintenanceSource } from './maintenance/maintenance-source.ts'
import { followMaintenance } from './maintenance/maintenance-wakes.ts'
import { type Controller, openMonitoring } from './monitoring/monitoring.ts'
import { ledgerSamples } from './monitoring/policy-samples.ts'
import { runMeasured } from './monitoring/run-measured.ts'
import { makeNodeReconcile } from './node/node-controller.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import type { OperatorPorts } from './ports.ts'
import { Planner } from './preflight/planner.ts'
import { openProfiles, type Profiles } from './profile/profiles.ts'
import { RegistryDesk } from './registry/registry-desk.ts'
import { makeScheduleReconcile } from './schedule/schedule-controller.ts'
import { ServerVersion } from './server-version.ts'
import { Operations } from './update/operations.ts'
import { ScriptShelf } from './update/script-content.ts'
import { makeUpdateReconcile } from './update/update-controller.ts'
import { askForVersions } from './versions/version-desk.ts'
import { WakeUps } from './wake-ups.ts'

export interface LeaderOptions {
  readonly ports: OperatorPorts
  readonly events: EventRecorder
  readonly metrics: OperatorMetrics | undefined
  /** Of this process, as the Lease has it. */
  readonly identity: string
  readonly namespace: string
  readonly version: string
  readonly podName: string | undefined
  readonly nodeName: string | undefined
  /** Hands the lease to another replica. */
  readonly stepDown: () => Promise<void>
  /** Another leader has written a higher epoch: this term is over. */
  readonly fencedOff: () => void
}

/** After a change of leader nothing is judged late before this has passed. */
const graceMs = 60_000

export async function lead(options: LeaderOptions, signal: AbortSignal): Promise<void> {
  const { ports, metrics, namespace } = options
  const cluster = new Cluster(ports, namespace)
  const watching = cluster.run(signal)
  await cluster.synced(signal)
  const serverVersion = await ServerVersion.read(ports, signal)
  const book = new LedgerBook(ports, cluster)
  const restored = rollCallDue(cluster.policy, highestEpoch(cluster.states.values()))
  if (restored !== undefined) {
    metrics?.gather(() => ledgerSamples(cluster, [], ports.clock.now()))
    await callRoll(ports, cluster, restored, signal)
  }
  await book.open(highestEpoch(cluster.states.values()), signal, restored)
  endTermAfterRestore(cluster, book, options)
  ports.log.info('leading', { epoch: book.epoch, nodes: cluster.nodes.size, grants: book.grants.length })

  const operations = new Operations(cluster, namespace)
  const wakeUps = new WakeUps(ports, cluster, book, operations)
  const { checkpoints, hooks } = openChecks({ options, cluster, book, wakeUps }, signal)
  const shared = { options, serverVersion, cluster, book, operations, wakeUps, checkpoints }
  const profiles = await openProfiles(shared, signal)
  wakeUps.follow()
  const eyes = new ControlPlaneEyes(ports, cluster, () => book.epoch)
  eyes.follow(() => wakeUps.grants())
  const backups = new Backups({
    ...{ ports, cluster, events: options.events, namespace },
    holderOf: (node) => book.holderOf(node),
    wakeGrants: () => wakeUps.grants(),
  })
  const term: Term = {
    options,
    serverVersion,
    cluster,
    book,
    operations,
    wakeUps,
    grants: new GrantPass(ports, cluster, book, {
      eyes,
      locks: new ForeignLocks(ports, () => wakeUps.grants(), signal),
      gate: (operation, node) => checkpoints.beforeNode(operation, node),
      hoursOf: (holder) => operations.hoursOf(holder),
    }),
    checkpoints,
    hooks,
    eyes,
    backups,
    scripts: new ScriptShelf(ports.api, namespace),
    profiles,
  }
  const source = new MaintenanceSource({
    cluster,
    namespace,
    isOpen: (kind) => term.grants.isOpen(kind),
    holderOf: (node) => book.holderOf(node),
  })
  operations.addSource(source)
  const schedules = makeScheduleReconcile({ ports, cluster, book, events: options.events })
  const working: readonly Controller[] = [
    ...wakeUps.controllers({
      nodes: nodeReconcile(term, signal),
      updates: updateReconcile(term),
      profiles: profiles.reconcile,
      grants: () => reconcileGrants(term, signal),
      schedules,
    }),
    {
      name: 'maintenance',
      queue: followMaintenance(ports, cluster, wakeUps),
      reconcile: maintenanceReconcile(term, source),
      workers: 8,
    },
    { name: 'backups', queue: backups.queue, reconcile: backups.reconcile, workers: 1 },
  ]
  const telling = openMonitoring({ ...options, serverVersion, cluster, book, grants: term.grants }, working)
  backups.follow()
  await Promise.all([
    watching,
    serverVersion.run(() => wakeUps.grants(), signal),
    ...[...working, ...telling].map((controller) => runMeasured(controller, ports, signal)),
    runCupcake({ ports, cluster, events: options.events, metrics, namespace }, signal),
    runHousekeeper({ ports, cluster, events: options.events }, signal),
    runJanitor({ ports, cluster, book, operations, wakeUps, events: options.events }, signal),
  ])
}

/** What the controllers of one term share. */
interface Term {
  readonly options: LeaderOptions
  readonly serverVersion: ServerVersion
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly wakeUps: WakeUps
  readonly grants: GrantPass
  readonly eyes: ControlPlaneEyes
  readonly backups: Backups
  readonly scripts: ScriptShelf
  readonly profiles: Profiles
  readonly checkpoints: Checkpoints
  readonly hooks: Hooks
}

function openChecks(
  { options, cluster, book, wakeUps }: Pick<Term, 'options' | 'cluster' | 'book' | 'wakeUps'>,
  signal: AbortSignal,
): Pick<Term, 'checkpoints' | 'hooks'> {
  const { ports, namespace } = options
  const watches = new SharedWatches(ports, signal)
  const jobs = new JobRuns(ports, watches, namespace)
  const holderOf = (node: string) => book.holderOf(node)
  const graceUntil = new Date(ports.clock.now().getTime() + graceMs)
  const gates = new Gates({ ports, cluster, holderOf, watches, jobs, namespace }, graceUntil, signal)
  const checkpoints = new Checkpoints(gates, cluster, {
    grants: () => wakeUps.grants(),
    node: (name) => wakeUps.node(name),
    owner: (owner) => wakeUps.owner(owner),
  })
  return { checkpoints, hooks: new Hooks(ports, jobs, graceUntil, signal) }
}

function nodeReconcile(term: Term, signal: AbortSignal): Reconcile {
  const { options, cluster, book, grants, operations, wakeUps, scripts, profiles, checkpoints, hooks } = term
  const { ports, namespace, podName, stepDown, events } = options
  const wake = (name: string) => wakeUps.node(name)
  return makeNodeReconcile({
    ports,
    cluster,
    book,
    grants,
    drains: {
      ports,
      budgets: new BudgetWatch(ports, wake, signal),
      keepers: new BudgetKeepers(ports),
      volumes: new VolumeWatch(ports, wake, signal),
      ownPods: new OwnPods({ cluster, podName, namespace, stepDown }),
    },
    hooks,
    events,
    operation: (id) => operations.operation(id),
    staging: (name, state) => operations.stagingOn(name, state, (operation) => grants.shut(operation)),
    afterNode: (operation, name, rollout) => checkpoints.afterNode(operation, name, rollout),
    hasSuccessor: (name, holder) => operations.hasSuccessor(name, holder),
    workFor: (operation, name) => operations.workFor(operation, name),
    prepare: async (order, until) => {
      const update = cluster.updates.get(ownerOfOperation(order.id))
      if (update) await scripts.ensure(update, undefined, until)
      await profiles.prepare(order, until)
    },
    wake,
    wakeGrants: () => wakeUps.grants(),
    graceUntil: new Date(ports.clock.now().getTime() + graceMs),
    signal,
  })
}

function maintenanceReconcile(term: Term, source: MaintenanceSource): Reconcile {
  const { options, serverVersion, cluster, book, operations, wakeUps } = term
  return makeMaintenanceReconcile({
    ports: options.ports,
    cluster,
    book,
    operations,
    source,
    events: options.events,
    namespace: options.namespace,
    serverVersion,
    ownNode: options.nodeName,
    wakeNode: (name) => wakeUps.node(name),
    wakeGrants: () => wakeUps.grants(),
  })
}

function updateReconcile({
  options,
  serverVersion,
  cluster,
  book,
  operations,
  wakeUps,
  scripts,
  profiles,
  checkpoints,
  backups,
  hooks,
  grants,
}: Term): Reconcile {
  return makeUpdateReconcile({
    ports: options.ports,
    cluster,
    book,
    operations,
    scripts,
    planner: planner({ options, cluster, serverVersion }),
    checkpoints,
    backups,
    hooks,
    shut: (operation) => grants.shut(operation),
    events: options.events,
    namespace: options.namespace,
    serverVersion,
    ownNode: options.nodeName,
    wakeNode: (name) => wakeUps.node(name),
    wakeGrants: () => wakeUps.grants(),
    wakeUpdate: (name) => wakeUps.update(name),
    profileWork: (node, profile) => profiles.book.askOf(node, profile),
  })
}

function planner({ options, cluster, serverVersion }: Pick<Term, 'options' | 'cluster' | 'serverVersion'>): Planner {
  const { ports, version, namespace } = options
  const { api, registry, bundleManifests } = ports
  const registries = registry && new RegistryDesk({ api, registry, cluster, namespace })
  const tags = registries?.tags.bind(registries)
  const manifest = bundleManifests?.read.bind(bundleManifests)
  const desk = { api, namespace, tags, manifest }
  const offers = (spec: DirectUpdateSpec, signal: AbortSignal) => askForVersions(desk, spec, signal)
  return new Planner({ ports, cluster, serverVersion, version, offers, ...(registries && { registries }) })
}

async function reconcileGrants(
  { options, grants, eyes, operations, wakeUps }: Term,
  signal: AbortSignal,
): ReturnType<Reconcile> {
  const { nodes, owners, againMs, isAsking } = await grants
    .run(() => operations.running(), signal)
    .catch((error: unknown) => {
      if (error instanceof SlipwayError && error.code === 'NotLeader') options.fencedOff()
      throw error
    })
  for (const name of nodes) {
    wakeUps.nodeChanged(name)
    wakeUps.node(name)
  }
  for (const owner of owners) wakeUps.owner(owner)
  for (const operation of operations.running()) for (const name of operation.toStage()) wakeUps.node(name)
  if (isAsking || eyes.askAgainMs() === 0) await eyes.ask(signal)
  // Only now: who waits for what has changed is woken and answered, whether or not the locks can be written.
  const locksAgainMs = await grants.giveLocksBack(signal)
  const early = isAsking ? eyes.earlyMs() : 0
  const waitsMs = [againMs, locksAgainMs, early > 0 ? early : undefined, eyes.askAgainMs()].flatMap((ms) => ms ?? [])
  return waitsMs.length > 0 ? { afterMs: Math.min(...waitsMs) } : undefined
}

/** The next term begins with a roll call. */
function endTermAfterRestore(cluster: Cluster, book: LedgerBook, { ports, fencedOff }: LeaderOptions): void {
  // Kept from state to state: each write of the ledger is a change of the policy, and there may be thousands of states.
  let seen = highestEpoch(cluster.states.values())
  const look = () => {
    const mark = rollCallDue(cluster.policy, 0)
    if (mark === undefined && seen <= book.epoch) return
    ports.log.warn('etcd was restored under this leader: another term begins', { mark, seen, epoch: book.epoch })
    fencedOff()
  }
  cluster.policies.subscribe(look)
  cluster.states.subscribe((change) => {
    if (change.type === 'removed') return
    seen = Math.max(seen, epochOf(change.object))
    if ((change.object.status?.agent?.epoch ?? 0) > book.epoch) look()
  })
  look()
}

function highestEpoch(states: Iterable<NodeState>): number {
  let highest = 0
  for (const state of states) highest = Math.max(highest, epochOf(state))
  return highest
}

/** The newest leader this state knows of. */
function epochOf({ spec, status }: NodeState): number {
  return Math.max(spec.order?.epoch ?? 0, status?.agent?.epoch ?? 0)
}
