// Everything a dnf transaction needs, decided and downloaded while the node still works. dnf resolves and checks signatures
// itself; what lies in the folder afterwards is the transaction.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StagedPackage, StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { bootRoomMissing } from '../boot-room.ts'
import { heldAs } from '../held-as.ts'
import { installedVersions, pickVersion } from '../match-version.ts'
import type { StageRequest, StageResult, UnwantedPackage, UpgradeRequest, WantedPackage } from '../package-manager.ts'
import { packageHeld, roomMissing, versionUnknown } from '../package-reasons.ts'
import { askMs, downloadMs, failureText, runTool } from '../run-tool.ts'
import { type DnfFolder, onlineOptions, prepareDnfFolder } from './dnf-folder.ts'
import { writeDnfPlan } from './dnf-job.ts'
import { fetchFailure, isRefusedByUs, parseDependents, parseOffers, parseSize, solveFailure } from './dnf-output.ts'
import { pickRpmVersion } from './pick-rpm-version.ts'
import { type Double, doublesOf, isOfSolver, leftBroken, repairCommand, repairTest } from './repair-doubles.ts'
import { dnfName, parseRpms, type RpmStatus, readRpmStatus, rpmFormat } from './rpm-status.ts'
import { besideRemovals, isSideBySide, sideBySideMarks } from './side-by-side.ts'

interface Transaction {
  readonly host: Host
  readonly folder: DnfFolder
  readonly status: RpmStatus
  /** dnf with its options, and what it is asked: `install a-1-1`, `upgrade --security`, `reinstall a`. */
  readonly online: readonly string[]
  readonly command: readonly string[]
  readonly wanted: readonly WantedPackage[]
  readonly unwanted: readonly UnwantedPackage[]
  /** Never touched, held or not. */
  readonly except?: readonly string[]
}

/** Holds are judged here, by who asked for what; the plugin would only make dnf do nothing. */
const unlocked = '--disableplugin=versionlock'

export async function stageDnf(
  host: Host,
  program: string,
  request: StageRequest,
  signal: AbortSignal,
): Promise<StageResult> {
  const { wanted, unwanted = [] } = request
  const names = wanted.map(({ name }) => name)
  const folder = await prepareDnfFolder(host, request.folder, request.sources, names, signal)
  const online = [...onlineOptions(program, folder), unlocked]
  const status = await readRpmStatus(host, signal)
  const offers = await offersOf(host, online, names, signal)
  if (!offers.ok) return offers
  const specs: string[] = []
  for (const { name, version } of wanted) {
    const here = status.get(name)
    const offered = offers.offers.get(name) ?? []
    if (version === undefined && offered.length === 0 && here) continue
    const have = [...installedVersions(here), ...(here?.leftOver ?? [])]
    const picked = pickRpmVersion(offered, have, version)
    if (picked === undefined) return { ok: false, reason: versionUnknown(name, version, offered) }
    if (!have.includes(picked)) specs.push(`${name}-${picked}`)
  }
  const gone = unwanted.filter(({ name }) => status.has(name))
  const refused = await removalRefused(host, online, gone, signal)
  if (refused) return { ok: false, reason: refused }
  const command = ['install', ...specs]
  return await stageTransaction(
    { host, folder, status, online, command, wanted, unwanted: gone },
    specs.length > 0,
    signal,
  )
}

export async function stageDnfUpgrade(
  host: Host,
  program: string,
  { folder: path, sources, upgrade, except }: UpgradeRequest,
  signal: AbortSignal,
): Promise<StageResult> {
  const folder = await prepareDnfFolder(host, path, sources, [], signal)
  const status = await readRpmStatus(host, signal)
  const held = [...status].filter(([, each]) => each.held).map(([name]) => name)
  const online = [...onlineOptions(program, folder), unlocked]
  const newer = await runTool(
    host,
    [...online, '--refresh', 'repoquery', '--upgrades', '--qf', '%{name}'],
    askMs,
    signal,
  )
  if (newer.exitCode !== 0) return { ok: false, reason: fetchFailure(newer) }
  const offered = new Set(newer.stdout.split('\n'))
  const command = [
    'upgrade',
    // A bundle has no advisories: whoever made it chose what is in it.
    ...(upgrade === 'Security' && sources.from === 'Host' ? ['--security'] : []),
    `--exclude=${[...except, ...held].join(',')}`,
  ]
  const transaction = { host, folder, status, online, command, wanted: [], unwanted: [], except }
  const result = await stageTransaction(transaction, true, signal)
  if (!result.ok) return result
  return { ok: true, staged: { ...result.staged, keptBack: held.filter((name) => offered.has(name)) } }
}

/** What is installed now is fetched once more, to be there when it is needed. */
export async function stageDnfReturn(
  host: Host,
  program: string,
  staged: StagedPackages,
  { folder: path, sources }: Pick<StageRequest, 'folder' | 'sources'>,
  signal: AbortSignal,
): Promise<StageResult> {
  const changed = staged.packages.filter(({ file }) => file !== undefined)
  const replaced = changed.filter(({ sideBySide }) => !sideBySide)
  const wanted = replaced.flatMap(({ name, previous: version }) => (version === undefined ? [] : [{ name, version }]))
  const names = wanted.map(({ name }) => name)
  const folder = await prepareDnfFolder(host, path, sources, names, signal)
  const online = [...onlineOptions(program, folder), unlocked]
  const status = await readRpmStatus(host, signal)
  const offers = await offersOf(host, online, names, signal)
  if (!offers.ok) return offers
  for (const { name, version } of wanted) {
    const offered = offers.offers.get(name) ?? []
    if (!offered.includes(version)) return { ok: false, reason: versionUnknown(name, version, offered) }
  }
  const command = ['reinstall', ...wanted.map(({ name, version }) => `${name}-${version}`)]
  const transaction = { host, folder, status, online, command, wanted, unwanted: [] }
  const result = await stageTransaction(transaction, wanted.length > 0, signal)
  if (!result.ok) return result
  const back: StagedPackages = {
    ...result.staged,
    packages: result.staged.packages.map((each) => {
      const from = changed.find(({ name }) => name === each.name)
      return from ? { ...each, previous: from.version } : each
    }),
    removals: [
      ...replaced.flatMap(({ name, previous, version }) =>
        previous === undefined ? [{ name, previous: version, purge: true }] : [],
      ),
      ...besideRemovals(changed, status),
    ],
  }
  await writeDnfPlan(host, back, status, signal)
  return { ok: true, staged: back }
}

type Offers =
  | { readonly ok: true; readonly offers: ReadonlyMap<string, readonly string[]> }
  | { readonly ok: false; readonly reason: Reason }

async function offersOf(
  host: Host,
  online: readonly string[],
  names: readonly string[],
  signal: AbortSignal,
): Promise<Offers> {
  const format = '%{name}|%{epoch}:%{version}-%{release}'
  const query = ['--refresh', 'repoquery', '--showduplicates', '--qf', format, ...names]
  const argv = names.length === 0 ? ['--refresh', 'makecache'] : query
  const asked = await runTool(host, [...online, ...argv], askMs, signal)
  if (asked.exitCode !== 0) return { ok: false, reason: fetchFailure(asked) }
  return { ok: true, offers: parseOffers(asked.stdout) }
}

async function removalRefused(
  host: Host,
  online: readonly string[],
  unwanted: readonly UnwantedPackage[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (unwanted.length === 0) return undefined
  const names = unwanted.map(({ name }) => name)
  const tried = await runTool(host, [...online, '--noautoremove', '--assumeno', 'remove', ...names], askMs, signal)
  const lost = parseDependents(tried.stdout).filter((name) => !names.includes(name))
  if (lost.length > 0) {
    return { code: 'PackageConflict', message: `${lost.join(', ')} would have to be removed, which nobody asked for` }
  }
  if (isRefusedByUs(tried)) return undefined
  return { code: 'PackageConflict', message: `${names.join(', ')} cannot be removed: ${failureText(tried)}` }
}

async function stageTransaction(transaction: Transaction, changes: boolean, signal: AbortSignal): Promise<StageResult> {
  const { host, folder, status, command, wanted, unwanted } = transaction
  const refused = changes ? await fetchAll(transaction, command, signal) : undefined
  if (refused) return { ok: false, reason: refused }
  const taken = changes ? await downloaded(transaction, signal) : []
  const repaired = await withRepairs(transaction, taken, signal)
  if (!repaired.ok) return repaired
  const { packages } = repaired
  const noRoom = await bootRoomMissing(
    host,
    packages.map(({ name }) => name),
  )
  if (noRoom) return { ok: false, reason: noRoom }
  const held = heldIn(status)
  const asked = new Set(wanted.map(({ name }) => name))
  const inTheWay = packages.filter(({ name }) => held.has(name) && !asked.has(name)).map(({ name }) => name)
  if (inTheWay.length > 0)
    return { ok: false, reason: packageHeld(inTheWay, `${packages.length} packages would change`) }
  const unchanged = wanted.flatMap(({ name, hold, version: wish }) => {
    const here = status.get(name)
    if (!here || packages.some((each) => each.name === name)) return []
    const { architecture } = here
    const version = (wish && pickVersion(installedVersions(here), wish)) || here.version
    return [{ name, architecture, version, previous: version, wanted: true, automatic: false, ...heldAs(here, hold) }]
  })
  const staged: StagedPackages = {
    manager: 'dnf',
    folder: folder.path,
    packages: [...packages, ...unchanged],
    removals: unwanted.map(({ name, purge }) => ({ name, purge, previous: status.get(name)?.version ?? '?' })),
    keptBack: [],
  }
  await writeDnfPlan(host, staged, status, signal)
  return { ok: true, staged }
}

/** What dnf would take for the command, put into the folder beside what is there. */
async function fetchAll(
  { host, folder, status, online }: Transaction,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const tried = await runTool(host, [...online, '--assumeno', ...command], askMs, signal)
  if (tried.exitCode !== 0 && !isRefusedByUs(tried)) return solveFailure(tried, [...heldIn(status)])
  const bytes = parseSize(tried.stdout, 'Total download size')
  const growth = parseSize(tried.stdout, 'Installed size')
  const full = await roomMissing(host, folder.archives, [{ fileName: '', bytes }], growth)
  if (full) return full
  const download = [...online, '--downloadonly', `--destdir=${folder.archives}`, ...command]
  const fetched = await runTool(host, download, downloadMs, signal)
  return fetched.exitCode === 0 ? undefined : fetchFailure(fetched)
}

type Repaired =
  | { readonly ok: true; readonly packages: readonly StagedPackage[] }
  | { readonly ok: false; readonly reason: Reason }

/** The same transaction with what mends the doubles of the host. Those that nobody asked for stay where that cannot be done. */
async function withRepairs(
  transaction: Transaction,
  taken: readonly StagedPackage[],
  signal: AbortSignal,
): Promise<Repaired> {
  const { status, wanted, unwanted, except = [] } = transaction
  const names = new Set(wanted.map(({ name }) => name))
  const untouched = [...new Set([...except, ...heldIn(status)])].filter((name) => !names.has(name))
  const settled = [...taken, ...unwanted].map(({ name }) => name)
  const doubles = doublesOf(status, wanted, new Set([...untouched, ...settled]))
  const asked = doubles.filter((each) => each.asked)
  const repair = (some: readonly Double[]) => repaired(transaction, taken, some, untouched, signal)
  if (asked.length < doubles.length) {
    const all = await ifAble(repair(doubles))
    if (all?.ok) return all
    await dropOthers(transaction, taken)
  }
  return await repair(asked)
}

/** What may pass counts, too: work is not to wait for what nobody asked for. */
async function ifAble(repair: Promise<Repaired>): Promise<Repaired | undefined> {
  try {
    return await repair
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'StagingFailed') return undefined
    throw error
  }
}

async function repaired(
  transaction: Transaction,
  taken: readonly StagedPackage[],
  doubles: readonly Double[],
  untouched: readonly string[],
  signal: AbortSignal,
): Promise<Repaired> {
  const { host, status, online } = transaction
  const [program = 'dnf'] = online
  const refused = (left: readonly { readonly name: string }[], why?: string): Repaired => ({
    ok: false,
    reason: leftBroken(program, left, why),
  })
  const why = doubles.length === 0 ? undefined : await fetchAll(transaction, repairCommand(doubles, untouched), signal)
  if (why) return isOfSolver(why) ? refused(doubles, why.message) : { ok: false, reason: why }
  const packages = doubles.length === 0 ? taken : await downloaded(transaction, signal)
  const left = doubles.filter((each) => each.asked && !packages.some(({ name }) => name === each.name))
  if (left.length > 0) return refused(left)
  const mended = packages.filter(({ name }) => status.get(name)?.leftOver)
  const test = mended.length === 0 ? undefined : await runTool(host, repairTest(packages), askMs, signal)
  return test && test.exitCode !== 0 ? refused(mended, failureText(test)) : { ok: true, packages }
}

/** All that lies in the folder is taken for the transaction. */
async function dropOthers({ host, folder }: Transaction, taken: readonly StagedPackage[]): Promise<void> {
  for (const name of await host.files.names(folder.archives)) {
    const path = `${folder.archives}/${name}`
    if (!taken.some(({ file }) => file === path)) await host.files.remove(path)
  }
}

/** What dnf put into the empty folder is the transaction; each file says itself what it is. */
async function downloaded(
  { host, folder, status, online, wanted }: Transaction,
  signal: AbortSignal,
): Promise<readonly StagedPackage[]> {
  const native = (await runTool(host, ['rpm', '--eval', '%_arch'], askMs, signal)).stdout.trim()
  const marks = await sideBySideMarks(host)
  const manual = new Set(await userInstalled(host, online, signal))
  const packages: StagedPackage[] = []
  for (const fileName of await host.files.names(folder.archives)) {
    const file = `${folder.archives}/${fileName}`
    const asked = await runTool(host, ['rpm', '-qp', '--nosignature', '--qf', rpmFormat, file], askMs, signal)
    const [rpm] = parseRpms(asked.stdout)
    const provided = await runTool(host, ['rpm', '-qp', '--nosignature', '--provides', file], askMs, signal)
    const sha256 = await host.files.sha256(file)
    const look = await host.files.look(file)
    if (asked.exitCode !== 0 || !rpm || sha256 === undefined || look.kind !== 'file') {
      throw new SlipwayError('StagingFailed', `${file} is no package: ${failureText(asked)}`)
    }
    const name = dnfName(rpm, native)
    const here = status.get(name)
    const wish = wanted.find((each) => each.name === name)
    packages.push({
      name,
      architecture: rpm.architecture,
      version: rpm.version,
      ...(here && { previous: here.version }),
      file,
      sha256,
      bytes: look.bytes,
      wanted: wish !== undefined,
      ...heldAs(here, wish?.hold),
      automatic: here ? !manual.has(name) : wish === undefined,
      ...(isSideBySide(rpm.name, provided.stdout.split('\n'), marks) && { sideBySide: true as const }),
    })
  }
  return packages
}

async function userInstalled(host: Host, online: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const argv = [...online, '-q', '--disablerepo=*', 'repoquery', '--userinstalled', '--qf', '%{name}']
  return (await runTool(host, argv, askMs, signal)).stdout.split('\n')
}

function heldIn(status: RpmStatus): ReadonlySet<string> {
  return new Set([...status].filter(([, each]) => each.held).map(([name]) => name))
}
