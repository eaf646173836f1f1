// Everything a dnf transaction needs, decided and downloaded while the node still works. dnf resolves and checks signatures
// itself; what lies in the folder afterwards is the transaction.

import type { Reason } from '../../../api/reason.ts'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { bootRoomMissing } from '../boot-room.ts'
import { heldAs } from '../held-as.ts'
import { installedVersions, pickVersion } from '../match-version.ts'
import type { StageRequest, StageResult, UnwantedPackage, UpgradeRequest } from '../package-manager.ts'
import { packageHeld, versionUnknown } from '../package-reasons.ts'
import { askMs, failureText, runTool } from '../run-tool.ts'
import { onlineOptions, prepareDnfFolder } from './dnf-folder.ts'
import { writeDnfPlan } from './dnf-job.ts'
import { fetchFailure, isRefusedByUs, parseDependents, parseOffers } from './dnf-output.ts'
import { withRepairs } from './dnf-repairs.ts'
import { downloaded, fetchAll, heldIn, type Transaction } from './dnf-transaction.ts'
import { pickRpmVersion } from './pick-rpm-version.ts'
import { readRpmStatus } from './rpm-status.ts'
import { besideRemovals } from './side-by-side.ts'

/** Holds are judged here, by who asked for what; the plugin would only make dnf do nothing. */
const unlocked = '--disableplugin=versionlock'

export async function stageDnf(
  host: Host,
  program: string,
  request: StageRequest,
  signal: AbortSignal,
): Promise<StageResult> {
  const { wanted, unwanted = [], repairs } = request
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
    { host, folder, status, online, command, wanted, unwanted: gone, repairs },
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
  return { ...result, staged: { ...result.staged, keptBack: held.filter((name) => offered.has(name)) } }
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
  // What is there twice now was left so, or will have been repaired on the way there.
  const transaction = { host, folder, status, online, command, wanted, unwanted: [], repairs: 'Asked' as const }
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
  const { packages, warnings } = repaired
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
  return { ok: true, staged, ...(warnings.length > 0 && { warnings }) }
}
