// Everything an apt transaction needs, decided and downloaded while the node still works. The simulation of apt itself says what
// would change; the files it would take are fetched with the hashes of the signed index and checked once more on the disk.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StagedPackage, StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { bootRoomMissing } from '../boot-room.ts'
import { heldAs } from '../held-as.ts'
import type { StageResult, UnwantedPackage, WantedPackage } from '../package-manager.ts'
import { packageHeld, roomMissing } from '../package-reasons.ts'
import { askMs, downloadMs, runTool } from '../run-tool.ts'
import { downloadFailure, solveFailure } from './apt-failure.ts'
import type { AptFolder } from './apt-folder.ts'
import { writeAptPlan } from './apt-job.ts'
import {
  archiveName,
  type Download,
  type Installation,
  parseDownloads,
  parseGrowth,
  parseSimulation,
  type Simulation,
} from './apt-output.ts'
import type { DpkgStatus } from './dpkg-status.ts'

export interface Transaction {
  readonly host: Host
  readonly folder: AptFolder
  readonly status: DpkgStatus
  /** What apt-get is asked: `install a=1 b-`, or `upgrade`. */
  readonly command: readonly string[]
  readonly wanted: readonly WantedPackage[]
  readonly unwanted: readonly UnwantedPackage[]
}

export async function stageTransaction(transaction: Transaction, signal: AbortSignal): Promise<StageResult> {
  const { host, folder, status, command, wanted } = transaction
  const online = ['apt-get', '-c', folder.onlineConfig]
  const held = [...status].filter(([, each]) => each.held).map(([name]) => name)
  const simulated = await runTool(host, [...online, '--simulate', ...command], askMs, signal)
  if (simulated.exitCode !== 0) return { ok: false, reason: solveFailure(simulated, held) }
  const simulation = parseSimulation(simulated.stdout)
  const refused = judge(transaction, simulation, held)
  if (refused) return { ok: false, reason: refused }
  const listed = await runTool(
    host,
    [...online, '-o', `Dir::Cache::archives=${folder.path}/none/`, '--print-uris', ...command],
    askMs,
    signal,
  )
  if (listed.exitCode !== 0) return { ok: false, reason: solveFailure(listed, held) }
  const downloads = new Map(parseDownloads(listed.stdout).map((each) => [each.fileName, each]))
  const names = simulation.installations.map(({ name }) => name)
  const full =
    (await roomMissing(host, folder.archives, [...downloads.values()], parseGrowth(listed.stdout))) ??
    (await bootRoomMissing(host, names))
  if (full) return { ok: false, reason: full }
  // Not under dpkg's lock: another may install meanwhile, and an interrupted dpkg is repaired by the job.
  const fetched = await runTool(
    host,
    [...online, '-o', 'Debug::NoLocking=1', '--download-only', ...command],
    downloadMs,
    signal,
  )
  if (fetched.exitCode !== 0) return { ok: false, reason: downloadFailure(fetched) }
  const automatic = new Set((await runTool(host, ['apt-mark', 'showauto'], askMs, signal)).stdout.split('\n'))
  // What is unpacked already, apt takes as it is, even when told to install it again.
  const isFetched = (each: Installation) => each.previous !== each.version || downloads.has(archiveName(each))
  const packages = await Promise.all(
    simulation.installations
      .filter(isFetched)
      .map((each) => checked(transaction, each, downloads.get(archiveName(each)), automatic)),
  )
  const staged: StagedPackages = {
    manager: 'apt',
    folder: folder.path,
    packages: [...packages, ...unchanged(transaction, wanted, packages, automatic)],
    removals: transaction.unwanted.map(({ name, purge }) => ({
      name,
      purge,
      previous: status.get(name)?.version ?? '?',
    })),
    keptBack: [...simulation.keptBack],
  }
  await writeAptPlan(host, staged, signal)
  return { ok: true, staged }
}

/** What apt would do, but nobody asked for. */
function judge(
  { status, wanted, unwanted }: Transaction,
  simulation: Simulation,
  held: readonly string[],
): Reason | undefined {
  const asked = new Set(wanted.map(({ name }) => name))
  const { installations, removals } = simulation
  const changed = [...installations.map(({ name }) => name), ...removals]
  const heldElsewhere = held.filter(
    (name) => changed.includes(name) && !asked.has(name) && !unwanted.some((each) => each.name === name),
  )
  if (heldElsewhere.length > 0) return packageHeld(heldElsewhere, `${changed.length} packages would change`)
  const lost = removals.filter((name) => !unwanted.some((each) => each.name === name))
  if (lost.length > 0) {
    return { code: 'PackageConflict', message: `${lost.join(', ')} would have to be removed, which nobody asked for` }
  }
  const broken = [...status].filter(([name, each]) => !each.whole && !each.configurable && !changed.includes(name))
  if (broken.length > 0) {
    const names = broken.map(([name, { version }]) => `${name} ${version}`).join(', ')
    return {
      code: 'PackagesBroken',
      message: `dpkg left ${names} half-installed and this work does not replace it; install it again by hand (dpkg --audit)`,
    }
  }
  return undefined
}

/** The downloaded file has the hash of the signed index. */
async function checked(
  { host, folder, status, wanted }: Transaction,
  installation: Installation,
  download: Download | undefined,
  automatic: ReadonlySet<string>,
): Promise<StagedPackage> {
  const { name, version, architecture } = installation
  if (!download) {
    throw new SlipwayError(
      'StagingFailed',
      `the repository has no SHA-256 for ${name} ${version}, so it cannot be checked`,
    )
  }
  const file = `${folder.archives}/${download.fileName}`
  if ((await host.files.sha256(file)) !== download.sha256) {
    await host.files.remove(file)
    throw new SlipwayError('StagingFailed', `${file} does not have the SHA-256 of the index; it was thrown away`)
  }
  const here = status.get(name)
  const wish = wanted.find((each) => each.name === name)
  return {
    name,
    architecture,
    version,
    ...(here && { previous: here.version }),
    file,
    sha256: download.sha256,
    bytes: download.bytes,
    wanted: wish !== undefined,
    ...heldAs(here, wish?.hold),
    automatic: here ? automatic.has(name) : wish === undefined,
  }
}

/** Those asked for that are as they should be already. */
function unchanged(
  { status }: Transaction,
  wanted: readonly WantedPackage[],
  changed: readonly StagedPackage[],
  automatic: ReadonlySet<string>,
): readonly StagedPackage[] {
  return wanted.flatMap(({ name, hold }) => {
    const here = status.get(name)
    if (!here || changed.some((each) => each.name === name)) return []
    const { version, architecture } = here
    const asBefore = { name, architecture, version, previous: version, wanted: true, automatic: automatic.has(name) }
    return [{ ...asBefore, ...heldAs(here, hold) }]
  })
}
