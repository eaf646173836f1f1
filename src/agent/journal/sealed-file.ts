// Rule 5: what the journal says was written whole, or it is recognised as damaged; nothing in between, nothing guessed.

import { createHash } from 'node:crypto'
import { journalFormat, oldestJournalFormat } from '../../api/journal.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'

/** How a file's content is parsed at the door; every zod schema is one. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly message: string } }
}

export const temporarySuffix = '.tmp'

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Pretty JSON for a person; `sha256` is of the compact form: `jq -cj .content FILE | sha256sum`. */
export function seal(content: object): string {
  const file = { format: journalFormat, sha256: sha256(JSON.stringify(content)), content }
  return `${JSON.stringify(file, undefined, 2)}\n`
}

export interface Unsealed<T> {
  readonly content: T
  readonly format: number
}

/** The content of a sealed text; throws JournalCorrupt, naming the path, for anything but a whole one of a format we know. */
export function unseal<T>(path: string, text: string, schema: Schema<T>): T {
  return unsealWithFormat(path, text, schema).content
}

export function unsealWithFormat<T>(path: string, text: string, schema: Schema<T>): Unsealed<T> {
  const file = parseJson(path, text)
  const format = field(file, 'format')
  if (typeof format !== 'number' || format < oldestJournalFormat) throw corrupt(path, 'is not a file of this journal')
  if (format > journalFormat) {
    throw corrupt(
      path,
      `was written by a newer version of the agent (format ${format}, this one knows ${journalFormat})`,
    )
  }
  const content = field(file, 'content')
  if (field(file, 'sha256') !== sha256(JSON.stringify(content) ?? ''))
    throw corrupt(path, 'does not match its checksum')
  const parsed = schema.safeParse(content)
  if (!parsed.success) throw corrupt(path, `has the wrong shape: ${parsed.error.message}`)
  return { content: parsed.data, format }
}

export async function readSealed<T>(disk: Disk, path: string, schema: Schema<T>): Promise<T | undefined> {
  const text = await disk.read(path)
  return text === undefined ? undefined : unseal(path, text, schema)
}

/** For those who only look, and leave what is damaged to whoever has to complain of it. */
export async function unlessCorrupt<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'JournalCorrupt') return undefined
    throw error
  }
}

/** Replaces the file as a whole and for good: after this resolves it outlives a power loss. */
export async function writeAtomically(
  disk: Disk,
  folder: string,
  name: string,
  text: string,
  mode = 0o600,
): Promise<void> {
  const path = `${folder}/${name}`
  const temporary = `${path}${temporarySuffix}`
  await disk.write(temporary, text, mode)
  await disk.sync(temporary)
  await disk.rename(temporary, path)
  await disk.syncFolder(folder)
}

export function corrupt(path: string, what: string, cause?: unknown): SlipwayError {
  return new SlipwayError('JournalCorrupt', `${path} ${what}`, {
    nextStep:
      'look at the file and at the host; once nothing of it can be under way, move it, or the folder of its order, out of the agent’s state folder',
    cause,
  })
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw corrupt(path, 'is damaged or half-written', error)
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
