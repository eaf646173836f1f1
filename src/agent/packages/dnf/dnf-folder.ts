// Repositories, metadata and packages of our own beside dnf's: the host's repository files are read, never written. Only a
// repository's key is taken into the rpm database, as its `gpgkey` says and as dnf always does.

import type { Host } from '../../../ports/host.ts'
import { folderParts } from '../folder-parts.ts'
import { globPattern } from '../match-version.ts'
import type { PackageSources, RepositoryFile } from '../package-manager.ts'

const ownFile = { mode: 0o644, owner: 'root', group: 'root' }

export interface DnfFolder {
  readonly path: string
  readonly archives: string
  readonly plan: string
}

export function dnfFolder(path: string): DnfFolder {
  return { path, archives: `${path}/archives`, plan: `${path}/plan` }
}

export function repositoriesOf(host: Host, signal: AbortSignal): Promise<readonly RepositoryFile[]> {
  return folderParts(host, '/etc/yum.repos.d', (name) => name.endsWith('.repo'), signal)
}

/** Before every command that asks repositories. */
export function onlineOptions(program: string, { path }: DnfFolder): readonly string[] {
  const settings = {
    reposdir: `${path}/repositories`,
    // Several requests of one order read the same metadata: dnf keeps it by address.
    cachedir: `${path.slice(0, path.lastIndexOf('/'))}/dnf-cache`,
    logdir: path,
    skip_if_unavailable: '0',
    install_weak_deps: '0',
    color: 'never',
  }
  return [program, '-y', ...Object.entries(settings).map(([name, value]) => `--setopt=${name}=${value}`)]
}

export async function prepareDnfFolder(
  host: Host,
  path: string,
  sources: PackageSources,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<DnfFolder> {
  const folder = dnfFolder(path)
  const made = ['repositories', 'keys', 'plan', 'archives'].map((name) => `${path}/${name}`)
  await host.run({ argv: ['rm', '-rf', '--', ...made] }, signal)
  await host.run({ argv: ['mkdir', '-p', '--', ...made] }, signal)
  for (const file of await privateRepositories(host, path, sources, signal)) {
    const content = file.path.endsWith('.repo') ? withoutExcludes(file.content, wanted) : file.content
    await host.files.write(file.path, content, ownFile)
  }
  return folder
}

async function privateRepositories(
  host: Host,
  path: string,
  sources: PackageSources,
  signal: AbortSignal,
): Promise<readonly RepositoryFile[]> {
  if (sources.from === 'Folder') {
    // The bundle's own SHA-256 vouches for it.
    const content = `[slipway-bundle]\nname=bundle\nbaseurl=file://${sources.folder}\nenabled=1\ngpgcheck=0\nrepo_gpgcheck=0\n`
    return [{ path: `${path}/repositories/bundle.repo`, content }]
  }
  const files = new Map((await repositoriesOf(host, signal)).map((file) => [file.path, file.content]))
  for (const gone of sources.without ?? []) files.delete(gone)
  for (const file of sources.with ?? []) files.set(file.path, file.content)
  const place = (from: string) =>
    `${path}/${from.endsWith('.repo') ? 'repositories' : 'keys'}/${from.slice(from.lastIndexOf('/') + 1)}`
  const keys = [...files.keys()].filter((from) => !from.endsWith('.repo'))
  return [...files].map(([from, content]) => ({
    path: place(from),
    content: keys.reduce((text, key) => text.replaceAll(key, place(key)), content),
  }))
}

/**
 * A repository file that excludes what is asked for by name, or by its beginning as in `kube*`, is how people hold packages of
 * Kubernetes back. Who excludes everything does not want that repository.
 */
export function withoutExcludes(content: string, wanted: readonly string[]): string {
  const isAskedFor = (name: string) => /^\w/.test(name) && wanted.some((each) => globPattern(name).test(each))
  return content.replace(/^(exclude(?:pkgs)?\s*=)(.*)$/gm, (_line, key: string, names: string) => {
    const left = names.split(/[\s,]+/).filter((name) => name !== '' && !isAskedFor(name))
    return `${key}${left.join(' ')}`
  })
}
