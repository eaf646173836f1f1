// Everything an apt transaction needs, decided and downloaded while the node still works. The simulation of apt itself says what
// would change; the files it would take are fetched with the hashes of the signed index and checked once more on the disk.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StagedPackage, StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { pickVersion } from '../match-version.ts'
import type { StageRequest, StageResult, UpgradeRequest, WantedPackage } from '../package-manager.ts'
import { runTool } from '../run-tool.ts'
import { diskTooFull, downloadFailure, packageHeld, solveFailure, updateFailure } from './apt-failure.ts'
import { type AptFolder, prepareAptFolder } from './apt-folder.ts'
import { writeAptPlan } from './apt-job.ts'
import {
  archiveName,
  type Download,
  type Installation,
  parseDownloads,
  parseGrowth,
  parseOffers,
  parseSimulation,
  type Simulation,
} from './apt-output.ts'
import { exceptionPins, securityPins } from './apt-pins.ts'
import { type DpkgStatus, readDpkgStatus } from './dpkg-status.ts'

const askMs = 300_000
const downloadMs = 3_600_000
/** Left free beside what the packages take: logs, the journal, the kubelet. */
const spareBytes = 128 * 1024 * 1024

interface Transaction {
  readonly host: Host
  readonly folder: AptFolder
  readonly status: DpkgStatus
  /** What apt-get is asked: `install a=1 b-`, or `upgrade`. */
  readonly command: readonly string[]
  readonly wanted: readonly WantedPackage[]
  readonly unwanted: NonNullable<StageRequest['unwanted']>
}

export async function stageApt(host: Host, request: StageRequest, signal: AbortSignal): Promise<StageResult> {
  const { wanted, unwanted = [] } = request
  const folder = await prepareAptFolder(host, request.folder, request.sources, '', signal)
  const refused = await update(host, folder, signal)
  if (refused) return { ok: false, reason: refused }
  const status = await readDpkgStatus(host, signal)
  const resolved = await resolve(host, folder, wanted, status, signal)
  if (!resolved.ok) return resolved
  const gone = unwanted.filter(({ name }) => status.has(name))
  const broken = wanted.some(({ name }) => status.get(name)?.whole === false)
  const command = [
    'install',
    ...(broken ? ['--reinstall'] : []),
    ...resolved.names,
    ...gone.map(({ name }) => `${name}-`),
  ]
  return await stageTransaction({ host, folder, status, command, wanted, unwanted: gone }, signal)
}

export async function stageAptUpgrade(host: Host, request: UpgradeRequest, signal: AbortSignal): Promise<StageResult> {
  const status = await readDpkgStatus(host, signal)
  const pins = exceptionPins(request.except, status) + (request.upgrade === 'Security' ? securityPins : '')
  const folder = await prepareAptFolder(host, request.folder, request.sources, pins, signal)
  const refused = await update(host, folder, signal)
  if (refused) return { ok: false, reason: refused }
  const command = ['upgrade', '--with-new-pkgs']
  return await stageTransaction({ host, folder, status, command, wanted: [], unwanted: [] }, signal)
}

async function update(host: Host, folder: AptFolder, signal: AbortSignal): Promise<Reason | undefined> {
  return updateFailure(await runTool(host, ['apt-get', '-c', folder.onlineConfig, 'update'], askMs, signal))
}

type Resolution =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly reason: Reason }

/** `name=version` for each; the version an index offers, or the one that is there already. */
async function resolve(
  host: Host,
  folder: AptFolder,
  wanted: readonly WantedPackage[],
  status: DpkgStatus,
  signal: AbortSignal,
): Promise<Resolution> {
  if (wanted.length === 0) return { ok: true, names: [] }
  const argv = ['apt-cache', '-c', folder.onlineConfig, 'madison', ...wanted.map(({ name }) => name)]
  const offers = parseOffers((await runTool(host, argv, askMs, signal)).stdout)
  const names: string[] = []
  for (const { name, version } of wanted) {
    const here = status.get(name)
    const offered = offers.get(name) ?? []
    if (version === undefined && (offered.length > 0 || here)) {
      names.push(name)
      continue
    }
    // A version that is installed and whole needs no offer.
    const known = here?.whole && !offered.includes(here.version) ? [...offered, here.version] : offered
    const picked = version === undefined ? undefined : pickVersion(known, version)
    if (picked === undefined) return { ok: false, reason: versionUnknown(name, version, offered) }
    names.push(`${name}=${picked}`)
  }
  return { ok: true, names }
}

export function versionUnknown(name: string, version: string | undefined, offered: readonly string[]): Reason {
  const offer = offered.length === 0 ? 'no version of it at all' : offered.slice(0, 10).join(', ')
  const asked = version === undefined ? name : `${name} ${version}`
  return { code: 'VersionUnknown', message: `the host’s repositories do not offer ${asked}; they offer ${offer}` }
}

async function stageTransaction(transaction: Transaction, signal: AbortSignal): Promise<StageResult> {
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
  const full = await roomMissing(host, folder, downloads, parseGrowth(listed.stdout), signal)
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
  const packages = await Promise.all(
    simulation.installations.map((each) => checked(transaction, each, downloads.get(archiveName(each)), automatic)),
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

async function roomMissing(
  host: Host,
  { archives }: AptFolder,
  downloads: ReadonlyMap<string, Download>,
  growthBytes: number,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  signal.throwIfAborted()
  const here = new Set(await host.files.names(archives))
  const toFetch = [...downloads.values()].filter(({ fileName }) => !here.has(fileName))
  const fetchBytes = toFetch.reduce((sum, { bytes }) => sum + bytes, 0)
  const needs = [
    // Most hosts have one file system for both; where there are two, this asks for a little more than is needed.
    { path: archives, bytes: fetchBytes + growthBytes },
    { path: '/usr', bytes: growthBytes },
  ]
  for (const { path, bytes } of needs) {
    const freeBytes = await host.files.freeBytes(path)
    if (bytes > 0 && freeBytes < bytes + spareBytes) {
      return diskTooFull(`${path} has ${megabytes(freeBytes)} free and ${megabytes(bytes + spareBytes)} are needed`)
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
    held: wish?.hold ?? here?.held ?? false,
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
    const { version, architecture, held } = here
    const asBefore = { name, architecture, version, previous: version, wanted: true, automatic: automatic.has(name) }
    return [{ ...asBefore, held: hold ?? held }]
  })
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
