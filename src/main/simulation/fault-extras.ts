// What some fault runs have on top: gates, hooks, pods that are hard to move, a profile, sentinels of hosts, updates
// that others want, a person who approves, skips, holds. Each is drawn by itself and seldom, so that most runs stay short.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { Hook } from '../../api/hook.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { KubernetesWish } from '../../api/work.ts'
import type { SeededRandom } from '../../sim/seeded-random.ts'
import { drawCrowd, type FaultCrowd, noCrowd } from './fault-crowd.ts'

export interface FaultExtras extends FaultCrowd {
  readonly gates: readonly GateSpec[]
  /** From when until when the server that gates ask answers that it is not well. */
  readonly sickServer: { readonly fromMs: number; readonly untilMs: number } | undefined
  readonly hooks: readonly Hook[]
  /** A workload that cannot lose a pod: a rule says Force, or a person loosens its budget after a while. */
  readonly tight: 'forced' | 'loosened' | undefined
  /** A Job's pod that a drain waits for. */
  readonly report: boolean
  /** A NodeProfile that is rolled out at the same time, with a drain or without. */
  readonly profile: 'Drain' | 'None' | undefined
  /** A worker whose host asks for maintenance, and one that asks for a reboot. */
  readonly maintained: string | undefined
  readonly rebooting: string | undefined
  /** When they ask. */
  readonly sentinelsFromMs: number
  /** A worker the update leaves out from the beginning. */
  readonly skipped: string | undefined
  /** A worker that its owner has marked for autoscalers already. */
  readonly marked: string | undefined
  /** Workers that share a budget of one. */
  readonly pool: readonly string[]
  /** The first wave waits for a person. */
  readonly approval: boolean
  readonly operationTimeout: string | undefined
  /** The update goes over two minor versions, and when its workers do. */
  readonly path: KubernetesWish['workers']
  /** When nodes may be taken: for some minutes out of every so many, and not before this. */
  readonly hours: Pick<MaintenancePolicySpec, 'windows' | 'freezes' | 'whenWindowCloses'> | undefined
  /** What the update wants backed up before it goes on. */
  readonly backup: FaultBackup | undefined
  /** What else is wanted of the same nodes at the same time. */
  readonly beside: FaultBeside | undefined
}

export interface FaultBeside {
  /** A DirectUpdate of CUPCAKE, an Update of Housekeeper, a ScheduledUpdate or an OS image of ours. */
  readonly kind: 'Cupcake' | 'Housekeeper' | 'Scheduled' | 'Image'
  /** Housekeeper's brings an OS image along. */
  readonly image: boolean
  /** A person edits what another system's resource says, in the middle. */
  readonly edited: boolean
  /** How long after it was asked for a scheduled one is due. */
  readonly afterMs: number
  /** From when until when the registry answers nobody. */
  readonly registryDown: { readonly fromMs: number; readonly untilMs: number } | undefined
}

export interface FaultBackup {
  readonly spec: NonNullable<DirectUpdateSpec['backup']>
  /** From when until when its store takes nothing. */
  readonly storeDown: { readonly fromMs: number; readonly untilMs: number } | undefined
  /** How long a backup takes. */
  readonly takesMs: readonly [number, number]
  /** By schedule, besides. */
  readonly scheduled: boolean
}

export const noExtras: FaultExtras = {
  ...noCrowd,
  gates: [],
  sickServer: undefined,
  hooks: [],
  tight: undefined,
  report: false,
  profile: undefined,
  maintained: undefined,
  rebooting: undefined,
  sentinelsFromMs: 0,
  skipped: undefined,
  marked: undefined,
  pool: [],
  approval: false,
  operationTimeout: undefined,
  path: undefined,
  hours: undefined,
  backup: undefined,
  beside: undefined,
}

export function bringsImage(beside: FaultBeside | undefined): boolean {
  return beside?.kind === 'Image' || (beside?.kind === 'Housekeeper' && beside.image)
}

export const gateAddress = 'http://check.example/ready'
const hookAddress = 'http://hooks.example'
const runsBeginMs = Date.UTC(2026, 0, 5, 8)
/** Longer than any trouble: what does not hold now holds in the end. */
const patience = '3h'

const gates: readonly [GateSpec, ...GateSpec[]] = [
  { type: 'NodeReady', timeout: patience },
  { type: 'PodsReady', namespace: 'shop', timeout: patience },
  { type: 'PodsReady', namespace: 'shop', when: 'AfterNode', timeout: patience },
  { type: 'Http', url: gateAddress, timeout: patience },
  { type: 'Http', url: gateAddress, when: 'AfterNode', timeout: patience },
  { type: 'Http', url: gateAddress, when: 'AfterWave', timeout: patience },
  { type: 'Http', url: gateAddress, when: 'Soak', timeout: patience },
  { type: 'Cel', expression: "node.metadata.name != ''", timeout: patience },
]

const told = (path: string) => ({ http: { url: `${hookAddress}/${path}` } })
const hooks: readonly [Hook, ...Hook[]] = [
  { name: 'noout', when: 'BeforeNode', ...told('set'), cleanup: told('unset'), timeout: '1h' },
  { name: 'silence', when: 'BeforeUpdate', ...told('silence'), cleanup: told('speak'), timeout: '1h' },
  { name: 'look', when: 'AfterNode', ...told('look'), timeout: '1h' },
  { name: 'freeze', when: 'BeforeWave', ...told('freeze'), cleanup: told('thaw'), timeout: '1h' },
]

export interface ExtrasOptions {
  /** Workers that nothing special is the matter with. */
  readonly workers: readonly string[]
  /** Nobody may wait for a node that failed, or for what a deleted policy wanted. */
  readonly othersEnd: boolean
  /** Nobody deletes the policy, and with it the store. */
  readonly keepsPolicy: boolean
  /** Everything at once, rather than seldom. */
  readonly crowded: boolean
  /** Whether what the update is wanted to be may be changed. */
  readonly steersUpdate: boolean
  /** Whether the script fails on some node. */
  readonly scriptFails: boolean
}

export function drawExtras(random: SeededRandom, options: ExtrasOptions): FaultExtras {
  const { workers, othersEnd, keepsPolicy, crowded, steersUpdate, scriptFails } = options
  // Each draws by itself: one that becomes rarer moves no other.
  const seldom = <T>(part: keyof FaultExtras, probability: number, draw: (own: SeededRandom) => T): T | undefined => {
    const own = random.fork(part)
    return own.chance(crowded ? Math.min(0.5, probability * 4) : probability) ? draw(own) : undefined
  }
  const worker = (own: SeededRandom) => own.pick(workers)
  const drawn = {
    gates: seldom('gates', 0.15, (own) => [own.pick(gates)]) ?? [],
    sickServer: seldom('sickServer', 0.7, sickTime),
    hooks: seldom('hooks', 0.15, (own) => hooks.filter(() => own.chance(0.4))) ?? [],
    tight: seldom('tight', 0.06, (own) => own.pick(['forced', 'loosened'] as const)),
    report: seldom('report', 0.06, () => true) ?? false,
    profile: seldom('profile', 0.06, (own) => own.pick(['Drain', 'None'] as const)),
    maintained: seldom('maintained', 0.08, worker),
    rebooting: seldom('rebooting', 0.08, worker),
    sentinelsFromMs: random.fork('sentinelsFromMs').between(0, 150_000),
    skipped: seldom('skipped', 0.06, worker),
    marked: seldom('marked', 0.1, worker),
    pool: seldom('pool', 0.1, (own) => workers.slice(0, own.whole(2, 4))) ?? [],
    approval: seldom('approval', 0.06, () => true) ?? false,
    path: seldom('path', 0.12, (own) => own.pick(['Once', 'EachStep'] as const)),
    operationTimeout: seldom('operationTimeout', 0.1, () => '5h'),
    hours: seldom('hours', 0.08, drawHours),
    backup: keepsPolicy ? seldom('backup', 0.2, drawBackup) : undefined,
  }
  // What no drain of another system may force keeps its update for ever.
  const beside = drawn.tight === undefined ? seldom('beside', 0.06, (own) => drawBeside(own, drawn.path)) : undefined
  const crowd = crowded ? drawCrowd(random.fork('crowd'), { workers, gates, steersUpdate }) : noCrowd
  // Nobody can try again what another system asks for, and a schedule goes on after what failed.
  const fails =
    crowd.attended && (scriptFails || (crowd.impatience !== undefined && crowd.policyGates.some(isAfterNode)))
  const others = { profile: undefined, maintained: undefined, rebooting: undefined, beside: undefined }
  return {
    ...drawn,
    ...crowd,
    ...(othersEnd ? { beside: fails && beside?.kind !== 'Image' ? undefined : beside } : others),
  }
}

/** Runs begin on the hour; a window is long enough for a node, and short enough to close on most updates. */
function drawHours(random: SeededRandom): NonNullable<FaultExtras['hours']> {
  const windows = [{ cron: `*/${random.pick([5, 10, 15])} * * * *`, duration: `${random.whole(2, 4)}m` }]
  const untilMs = runsBeginMs + random.between(60_000, 300_000)
  const freezes = [{ from: iso(runsBeginMs), to: iso(untilMs), reason: 'stocktaking' }]
  const whenWindowCloses = random.pick(['FinishNode', 'Hold'] as const)
  return { whenWindowCloses, ...(random.chance(0.8) && { windows }), ...(random.chance(0.4) && { freezes }) }
}

function drawBackup(random: SeededRandom): FaultBackup {
  const maxAge = random.pick(['1m', '3m', '1h'])
  const before = random.pick([['ControlPlane'], ['ControlPlane', 'FirstWorker']] as const)
  const least = random.between(1_000, 40_000)
  return {
    spec: { etcd: 'Required', before: [...before], maxAge: maxAge ?? '1h', verify: random.pick(['Hash', 'Restore']) },
    storeDown: random.chance(0.5) ? sickTime(random) : undefined,
    takesMs: [least, least + random.between(1_000, 30_000)],
    scheduled: random.chance(0.3),
  }
}

function drawBeside(random: SeededRandom, path: FaultExtras['path']): FaultBeside {
  return {
    kind: random.pick(['Cupcake', 'Housekeeper', 'Scheduled', 'Image']),
    // An image has one version of Kubernetes: it goes over no minor version.
    image: random.chance(0.5) && path === undefined,
    edited: random.chance(0.5),
    afterMs: random.between(5_000, 240_000),
    registryDown: random.chance(0.5) ? sickTime(random) : undefined,
  }
}

function isAfterNode({ when }: GateSpec): boolean {
  return when === 'AfterNode'
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

function sickTime(random: SeededRandom): NonNullable<FaultExtras['sickServer']> {
  const fromMs = random.between(10_000, 90_000)
  return { fromMs, untilMs: fromMs + random.between(30_000, 400_000) }
}
