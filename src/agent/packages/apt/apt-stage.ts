// What apt is asked to do: exact versions, upgrades, and the way back, all resolved from an index of our own.

import type { Reason } from '../../../api/reason.ts'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { pickVersion } from '../match-version.ts'
import type { PackageSources, StageRequest, StageResult, UpgradeRequest, WantedPackage } from '../package-manager.ts'
import { versionUnknown } from '../package-reasons.ts'
import { askMs, runTool } from '../run-tool.ts'
import { updateFailure } from './apt-failure.ts'
import { type AptFolder, prepareAptFolder } from './apt-folder.ts'
import { writeAptPlan } from './apt-job.ts'
import { parseOffers } from './apt-output.ts'
import { exceptionPins, hostPins, securityPins } from './apt-pins.ts'
import { stageTransaction } from './apt-transaction.ts'
import { type DpkgStatus, readDpkgStatus } from './dpkg-status.ts'

export async function stageApt(host: Host, request: StageRequest, signal: AbortSignal): Promise<StageResult> {
  const { wanted, unwanted = [] } = request
  const folder = await prepareAptFolder(host, request.folder, request.sources, hostPins, signal)
  const refused = await update(host, folder, request.sources, signal)
  if (refused) return { ok: false, reason: refused }
  const status = await readDpkgStatus(host, signal)
  const resolved = await resolve(host, folder, wanted, status, signal)
  if (!resolved.ok) return resolved
  const gone = unwanted.filter(({ name }) => status.has(name))
  const broken = wanted.some(({ name }) => status.get(name)?.configurable === false)
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
  // A bundle has no security archive: whoever made it chose what is in it.
  const onlySecurity = request.upgrade === 'Security' && request.sources.from === 'Host'
  const pins = {
    first: exceptionPins(request.except, status),
    last: onlySecurity ? securityPins : '',
    ofDefaultRelease: !onlySecurity,
  }
  const folder = await prepareAptFolder(host, request.folder, request.sources, pins, signal)
  const refused = await update(host, folder, request.sources, signal)
  if (refused) return { ok: false, reason: refused }
  const command = ['upgrade', '--with-new-pkgs']
  return await stageTransaction({ host, folder, status, command, wanted: [], unwanted: [] }, signal)
}

/** What is installed now is fetched once more: when it is needed it will not be the newest any longer. */
export async function stageAptReturn(
  host: Host,
  staged: StagedPackages,
  { folder: path, sources }: Pick<StageRequest, 'folder' | 'sources'>,
  signal: AbortSignal,
): Promise<StageResult> {
  const changed = staged.packages.filter(({ file }) => file !== undefined)
  const wanted = changed.flatMap(({ name, previous: version }) => (version === undefined ? [] : [{ name, version }]))
  const folder = await prepareAptFolder(host, path, sources, hostPins, signal)
  const refused = await update(host, folder, sources, signal)
  if (refused) return { ok: false, reason: refused }
  const status = await readDpkgStatus(host, signal)
  const offers = await offersOf(host, folder, wanted, signal)
  for (const { name, version } of wanted) {
    const offered = offers.get(name) ?? []
    if (!offered.includes(version)) return { ok: false, reason: versionUnknown(name, version, offered) }
  }
  const command = ['install', '--reinstall', ...wanted.map(({ name, version }) => `${name}=${version}`)]
  const result = await stageTransaction({ host, folder, status, command, wanted, unwanted: [] }, signal)
  if (!result.ok) return result
  const fresh = changed.filter(({ previous }) => previous === undefined)
  const back: StagedPackages = {
    ...result.staged,
    packages: result.staged.packages.map((each) => {
      const from = changed.find(({ name }) => name === each.name)
      return from ? { ...each, previous: from.version } : each
    }),
    removals: fresh.map(({ name, version }) => ({ name, previous: version, purge: true })),
    keptBack: [],
  }
  await writeAptPlan(host, back, signal)
  return { ok: true, staged: back }
}

async function update(
  host: Host,
  folder: AptFolder,
  { from }: PackageSources,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  return updateFailure(await runTool(host, ['apt-get', '-c', folder.onlineConfig, 'update'], askMs, signal), from)
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
  const offers = await offersOf(host, folder, wanted, signal)
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

async function offersOf(
  host: Host,
  folder: AptFolder,
  wanted: readonly WantedPackage[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (wanted.length === 0) return new Map()
  const argv = ['apt-cache', '-c', folder.onlineConfig, 'madison', ...wanted.map(({ name }) => name)]
  return parseOffers((await runTool(host, argv, askMs, signal)).stdout)
}
