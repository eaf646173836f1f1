// apt and dnf want an index beside the packages. It is written last and whole: where it is, it is complete.

import type { BundleFile, BundleManifest } from '../../../api/bundle.ts'
import type { Reason } from '../../../api/reason.ts'
import { partOf } from '../../../core/bundle/bundle-path.ts'
import { debIndexEntry } from '../../../core/bundle/deb-index.ts'
import {
  fileListsXml,
  type IndexedRpm,
  primaryXml,
  readRpmLook,
  repositoryXml,
  rpmQueryFormat,
} from '../../../core/bundle/rpm-index.ts'
import type { CommandResult, Host } from '../../../ports/host.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import { askMs, failureText, runTool } from '../../packages/run-tool.ts'

const ownFile = { mode: 0o644, owner: 'root', group: 'root' }

/** An index also where there is no package at all, so that the package manager can say what is missing. */
export async function indexPackages(
  host: Host,
  folder: string,
  { files }: BundleManifest,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  switch ((await packageManagerOf(host, signal))?.kind) {
    case undefined:
      return undefined
    case 'apt':
      return await indexDebs(host, folder, files, signal)
    case 'dnf':
      return await indexRpms(host, folder, files, signal)
  }
}

async function indexDebs(
  host: Host,
  folder: string,
  files: readonly BundleFile[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const index = `${folder}/packages/deb/Packages`
  if ((await host.files.look(index)).kind === 'file') return undefined
  const entries: string[] = []
  for (const file of files.filter(({ path }) => partOf(path) === 'deb')) {
    const answer = await runTool(host, ['dpkg-deb', '--field', `${folder}/${file.path}`], askMs, signal)
    const entry = answer.exitCode === 0 ? debIndexEntry(answer.stdout, file) : undefined
    if (entry === undefined) return unreadable(file, answer)
    entries.push(entry)
  }
  await host.files.write(index, entries.join('\n'), ownFile)
  return undefined
}

async function indexRpms(
  host: Host,
  folder: string,
  files: readonly BundleFile[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const index = `${folder}/packages/rpm/repodata`
  if ((await host.files.look(`${index}/repomd.xml`)).kind === 'file') return undefined
  const rpms: IndexedRpm[] = []
  for (const file of files.filter(({ path }) => partOf(path) === 'rpm')) {
    // The bundle's own SHA-256 vouches for it, so the host need not know who signed the package.
    const argv = ['rpm', '--query', '--nosignature', `--queryformat=${rpmQueryFormat}`, '--package']
    const answer = await runTool(host, [...argv, `${folder}/${file.path}`], askMs, signal)
    const look = answer.exitCode === 0 ? readRpmLook(answer.stdout) : undefined
    if (!look) return unreadable(file, answer)
    rpms.push({ look, file })
  }
  const parts = [
    { type: 'primary', text: primaryXml(rpms) },
    { type: 'filelists', text: fileListsXml(rpms) },
  ] as const
  for (const { type, text } of parts) await host.files.write(`${index}/${type}.xml`, text, ownFile)
  const named = parts.map(({ type, text }) => ({
    type,
    sha256: sha256(text),
    bytes: new TextEncoder().encode(text).length,
  }))
  await host.files.write(`${index}/repomd.xml`, repositoryXml(named), ownFile)
  return undefined
}

function unreadable({ path }: BundleFile, answer: CommandResult): Reason {
  return { code: 'BundleBroken', message: `${path} of the bundle is not a package: ${failureText(answer)}` }
}
