// One file of a host, made what it should be, and put back to what it was.

import type { PriorFile } from '../../../api/profile-record.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { FileAttributes, FileLook, HostFiles } from '../../../ports/host-files.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import { answerOf } from '../host-answer.ts'
import { accountName } from './account-name.ts'

export interface WantedFile extends FileAttributes {
  readonly path: string
  readonly content: string
}

/**
 * What lies there now, kept so that it can be put back; throws PathTaken for what could not be. `made`: folders that are only
 * there for other managed files, so they go with the last of them.
 */
export async function priorOf(files: HostFiles, path: string, made: ReadonlySet<string>): Promise<PriorFile> {
  const look = await files.look(path)
  switch (look.kind) {
    case 'none':
      return { kind: 'none', missingFolders: [...(await missingFolders(files, path, made))] }
    case 'link':
      return { kind: 'link', target: look.target }
    case 'file':
      return await keptFile(files, path, look)
    case 'folder':
    case 'other':
      throw taken(path, look.kind === 'folder' ? 'is a folder' : 'is no plain file')
  }
}

/** What is not as wanted, in words; undefined when all is. */
export async function fileDifference(
  files: HostFiles,
  { path, content, mode, owner, group }: WantedFile,
): Promise<string | undefined> {
  const look = await files.look(path)
  if (look.kind === 'none') return `${path} is missing`
  if (look.kind !== 'file') return `${path} is a ${look.kind}, not a file`
  if ((await files.sha256(path)) !== sha256(content)) return `${path} has other content`
  if (look.mode !== mode) return `${path} has mode ${octal(look.mode)}, not ${octal(mode)}`
  const account = `${await accountName(files, 'user', owner)}:${await accountName(files, 'group', group)}`
  const found = `${look.owner}:${look.group}`
  return found === account ? undefined : `${path} belongs to ${found}, not ${account}`
}

/** Safe to do again after any cut: each part looks first. */
export async function restoreFile(host: Host, path: string, prior: PriorFile, signal: AbortSignal): Promise<void> {
  const { files } = host
  switch (prior.kind) {
    case 'file': {
      const { content, mode, owner, group } = prior
      await files.write(path, content, { mode, owner, group })
      return
    }
    case 'link': {
      const look = await files.look(path)
      if (look.kind === 'link' && look.target === prior.target) return
      await files.remove(path)
      await answerOf(host, { argv: ['ln', '-s', '--', prior.target, path] }, signal)
      return
    }
    case 'none': {
      await files.remove(path)
      for (const folder of prior.missingFolders.toReversed()) {
        if ((await files.look(folder)).kind !== 'folder') continue
        // Somebody else may have put something there since.
        await answerOf(host, { argv: ['rmdir', '--ignore-fail-on-non-empty', '--', folder] }, signal)
      }
    }
  }
}

async function keptFile(
  files: HostFiles,
  path: string,
  { mode, owner, group }: Extract<FileLook, { readonly kind: 'file' }>,
): Promise<PriorFile> {
  const content = await files.read(path)
  // Read as text, it must still be the same bytes; else it could not be put back.
  if (content === undefined || sha256(content) !== (await files.sha256(path))) throw taken(path, 'does not hold text')
  return { kind: 'file', content, mode, owner, group }
}

async function missingFolders(files: HostFiles, path: string, made: ReadonlySet<string>): Promise<readonly string[]> {
  const missing: string[] = []
  for (let folder = parent(path); folder !== ''; folder = parent(folder)) {
    if (!made.has(folder) && (await files.look(folder)).kind !== 'none') break
    missing.unshift(folder)
  }
  return missing
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function taken(path: string, what: string): SlipwayError {
  return new SlipwayError('PathTaken', `${path} ${what}, so it could not be put back as it is`, {
    nextStep: 'move it away, or take the path out of the profile',
  })
}
