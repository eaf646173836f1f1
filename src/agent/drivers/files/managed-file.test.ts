import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FileDisk } from '../../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../../adapters/host/linux-host.ts'
import type { Host } from '../../../ports/host.ts'
import { silentLog } from '../../../sim/silent-log.ts'
import { nameOfNumber } from './account-name.ts'
import { fileDifference, priorOf, restoreFile } from './managed-file.ts'

const signal = new AbortController().signal
const none = new Set<string>()
let folder: string
let host: Host
let account: { owner: string; group: string }

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'managed-file-'))
  host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
  writeFileSync(join(folder, 'own'), '')
  const look = await host.files.look(join(folder, 'own'))
  if (look.kind !== 'file') throw new Error('no file')
  account = { owner: look.owner, group: look.group }
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (name: string) => join(folder, name)
const wanted = (name: string, part: object = {}) => ({
  path: at(name),
  content: 'new\n',
  mode: 0o640,
  ...account,
  ...part,
})

async function replaceAndRestore(name: string): Promise<void> {
  const file = wanted(name)
  const prior = await priorOf(host.files, file.path, none)
  expect(await fileDifference(host.files, file)).toBeDefined()
  await host.files.write(file.path, file.content, file)
  expect(await fileDifference(host.files, file)).toBeUndefined()
  for (let time = 0; time < 2; time++) await restoreFile(host, file.path, prior, signal)
}

describe('a file that is replaced and put back', () => {
  test('that was not there takes its folders with it', async () => {
    await replaceAndRestore('a/b/c')
    expect(existsSync(at('a'))).toBe(false)
  })

  test('leaves a folder that somebody else uses by now', async () => {
    const file = wanted('a/b')
    const prior = await priorOf(host.files, file.path, none)
    await host.files.write(file.path, file.content, file)
    writeFileSync(at('a/other'), '')
    await restoreFile(host, file.path, prior, signal)
    expect(existsSync(at('a/other'))).toBe(true)
    expect(existsSync(at('a/b'))).toBe(false)
  })

  test('knows the folders that were made for others', async () => {
    mkdirSync(at('a'))
    const prior = await priorOf(host.files, at('a/b'), new Set([at('a')]))
    expect(prior).toEqual({ kind: 'none', missingFolders: [at('a')] })
  })

  test('that was there has its content and mode again', async () => {
    writeFileSync(at('a'), 'old — ö\n')
    chmodSync(at('a'), 0o604)
    await replaceAndRestore('a')
    expect(readFileSync(at('a'), 'utf8')).toBe('old — ö\n')
    expect(lstatSync(at('a')).mode & 0o7777).toBe(0o604)
  })

  test('that was a link is one again', async () => {
    symlinkSync('somewhere/else', at('a'))
    await replaceAndRestore('a')
    expect(readlinkSync(at('a'))).toBe('somewhere/else')
  })
})

describe('what could not be put back is not touched', () => {
  test('a folder', async () => {
    mkdirSync(at('a'))
    await expect(priorOf(host.files, at('a'), none)).rejects.toMatchObject({ code: 'PathTaken' })
  })

  test('bytes that are no text', async () => {
    writeFileSync(at('a'), Buffer.from([0xff, 0xfe, 0x00]))
    await expect(priorOf(host.files, at('a'), none)).rejects.toMatchObject({ code: 'PathTaken' })
  })
})

describe('fileDifference', () => {
  test.each([
    { what: 'content', part: { content: 'other' }, says: 'has other content' },
    { what: 'mode', part: { mode: 0o600 }, says: 'has mode 0640, not 0600' },
    { what: 'owner', part: { owner: 'nobody' }, says: 'not nobody:' },
  ])('tells of another $what', async ({ part, says }) => {
    const file = wanted('a')
    await host.files.write(file.path, file.content, file)
    expect(await fileDifference(host.files, { ...file, ...part })).toContain(says)
  })

  test('takes an owner by number as well', async () => {
    const file = wanted('a')
    await host.files.write(file.path, file.content, file)
    const { uid, gid } = lstatSync(file.path)
    expect(await fileDifference(host.files, { ...file, owner: String(uid), group: String(gid) })).toBeUndefined()
  })
})

test('nameOfNumber', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\n_chrony:x:100:101::/var/lib/chrony:/usr/sbin/nologin\n'
  expect([nameOfNumber(passwd, '100'), nameOfNumber(passwd, '10'), nameOfNumber('', '0')]).toEqual([
    '_chrony',
    undefined,
    undefined,
  ])
})
