// A configuration of apt of our own: its sources, lists, archives and pins lie in the staging folder, and the host's own stay
// untouched. Proxies, credentials and keys of the host are used as they are.

import type { Host } from '../../../ports/host.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import type { PackageSources, RepositoryFile } from '../package-manager.ts'
import { aptPreferences, aptSources } from './apt-parts.ts'
import type { AptPins } from './apt-pins.ts'

export interface AptFolder {
  readonly path: string
  /** For asking the sources and downloading. */
  readonly onlineConfig: string
  /** For the installation: no sources at all. */
  readonly offlineConfig: string
  readonly archives: string
  readonly plan: string
}

/** The caches stay in memory. The folder is closed to others, so apt's own user could not download into it. */
const baseConfig = `Dir::Etc::sourcelist "/dev/null";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
APT::Get::Assume-Yes "true";
APT::Get::AutomaticRemove "false";
APT::Install-Recommends "false";
APT::Get::Allow-Downgrades "true";
APT::Get::Allow-Change-Held-Packages "true";
`
const ownFile = { mode: 0o644, owner: 'root', group: 'root' }

export function aptFolder(path: string): AptFolder {
  return {
    path,
    onlineConfig: `${path}/online.conf`,
    offlineConfig: `${path}/offline.conf`,
    archives: `${path}/archives`,
    plan: `${path}/plan`,
  }
}

/** Makes the folder anew but for what was downloaded. */
export async function prepareAptFolder(
  host: Host,
  path: string,
  sources: PackageSources,
  pins: AptPins,
  signal: AbortSignal,
): Promise<AptFolder> {
  const folder = aptFolder(path)
  const files = await privateSources(host, path, sources, signal)
  // Several requests of one order with the same sources read the same lists.
  const lists = `${path.slice(0, path.lastIndexOf('/'))}/lists-${sha256(JSON.stringify(files).replaceAll(path, '')).slice(0, 16)}`
  const made = ['sources', 'keys', 'preferences', 'plan'].map((name) => `${path}/${name}`)
  await host.run({ argv: ['rm', '-rf', '--', ...made] }, signal)
  const kept = [`${lists}/partial`, `${folder.archives}/partial`, `${path}/none/partial`]
  await host.run({ argv: ['mkdir', '-p', '--', ...made, ...kept] }, signal)
  for (const file of files) await host.files.write(file.path, file.content, ownFile)
  for (const pin of await aptPreferences(host, signal)) {
    await host.files.write(`${path}/preferences/${nameOf(pin.path)}`, pin.content, ownFile)
  }
  await host.files.write(`${path}/preferences/zz-slipway.pref`, pins.last, ownFile)
  const hostMain = (await host.files.read('/etc/apt/preferences')) ?? ''
  await host.files.write(mainPreferences(folder), `${pins.first}${hostMain}`, ownFile)
  const ofDefaultRelease = pins.ofDefaultRelease && sources.from === 'Host'
  await host.files.write(folder.onlineConfig, onlineConfig(folder, lists, ofDefaultRelease), ownFile)
  await host.files.write(folder.offlineConfig, offlineConfig(folder), ownFile)
  return folder
}

/** The files of repositories and keys as they stand under the folder. */
async function privateSources(
  host: Host,
  path: string,
  sources: PackageSources,
  signal: AbortSignal,
): Promise<readonly RepositoryFile[]> {
  if (sources.from === 'Folder') {
    // Copied into the archives, so that the installation needs nothing but this folder. The bundle's own SHA-256 vouches for it.
    return [{ path: `${path}/sources/bundle.list`, content: `deb [trusted=yes] copy:${sources.folder} ./\n` }]
  }
  const files = new Map<string, string>()
  const main = await host.files.read('/etc/apt/sources.list')
  if (main !== undefined) files.set('/etc/apt/sources.list', main)
  for (const part of await aptSources(host, signal)) files.set(part.path, part.content)
  for (const gone of sources.without ?? []) files.delete(gone)
  for (const file of sources.with ?? []) files.set(file.path, file.content)
  const moved = new Map([...files.keys()].map((from) => [from, movedPath(path, from)]))
  const keys = [...moved].filter(([from]) => !isSourceFile(from))
  return [...files].map(([from, content]) => ({
    path: moved.get(from) ?? from,
    content: isSourceFile(from)
      ? keys.reduce((text, [key, place]) => text.replaceAll(key, place), copying(content))
      : content,
  }))
}

/** Packages of a folder on the host are left by apt where they are; asked for by `copy:` they come into the archives. */
function copying(content: string): string {
  return content.replace(/(?<=[\s:])file:/g, 'copy:')
}

function isSourceFile(path: string): boolean {
  return /\.(list|sources)$/.test(path)
}

function movedPath(folder: string, path: string): string {
  return `${folder}/${isSourceFile(path) ? 'sources' : 'keys'}/${nameOf(path)}`
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Read before those of the folder. */
function mainPreferences({ path }: AptFolder): string {
  return `${path}/main.pref`
}

/** apt fails where none of its sources is of the release that the host prefers. */
const ofNoRelease = 'APT::Default-Release "";'

function onlineConfig(folder: AptFolder, lists: string, ofDefaultRelease: boolean): string {
  const { path, archives } = folder
  return `${baseConfig}${ofDefaultRelease ? '' : ofNoRelease}
Dir::Etc::sourceparts "${path}/sources/";
Dir::Etc::preferences "${mainPreferences(folder)}";
Dir::Etc::preferencesparts "${path}/preferences/";
Dir::State::lists "${lists}/";
Dir::Cache::archives "${archives}/";
Acquire::ForceHash "SHA256";
Acquire::Languages "none";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
APT::Update::Error-Mode "any";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`
}

/** Pins are left out: what is installed was decided, and an exact file is named. */
function offlineConfig({ path }: AptFolder): string {
  return `${baseConfig}${ofNoRelease}
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "${path}/none/";
Dir::Cache::archives "${path}/none/";
DPkg::Lock::Timeout "600";
DPkg::Options:: "--force-confdef";
DPkg::Options:: "--force-confold";
`
}
