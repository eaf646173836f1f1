import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileDisk } from './file-disk.ts'

const disk = new FileDisk()
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-disk-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('FileDisk', () => {
  it('keeps what is written, with the mode asked for whatever was there', async () => {
    const path = join(folder, 'a')
    await writeFile(path, 'a longer text than the next', { mode: 0o644 })
    await disk.write(path, 'grüß', 0o700)
    await disk.sync(path)
    await disk.rename(path, join(folder, 'b'))
    await disk.syncFolder(folder)
    expect(await disk.read(join(folder, 'b'))).toBe('grüß')
    expect((await stat(join(folder, 'b'))).mode & 0o777).toBe(0o700)
    expect(await disk.names(folder)).toEqual(['b'])
  })

  it('says that nothing is there by undefined and empty', async () => {
    expect(await disk.read(join(folder, 'x'))).toBeUndefined()
    expect(await disk.readTail(join(folder, 'x'), 10)).toBeUndefined()
    expect(await disk.bytes(join(folder, 'x'))).toBeUndefined()
    expect(await disk.names(join(folder, 'x'))).toEqual([])
    await disk.removeFolder(join(folder, 'x'))
  })

  it('finds nothing below a file', async () => {
    await writeFile(join(folder, 'a'), 'text')
    expect(await disk.names(join(folder, 'a'))).toEqual([])
    expect(await disk.read(join(folder, 'a', 'b'))).toBeUndefined()
  })

  it('reads the tail only', async () => {
    await writeFile(join(folder, 'log'), `${'x'.repeat(100_000)}the end`)
    expect(await disk.bytes(join(folder, 'log'))).toBe(100_007)
    expect(await disk.readTail(join(folder, 'log'), 7)).toBe('the end')
    expect(await disk.readTail(join(folder, 'log'), 1_000_000)).toHaveLength(100_007)
  })

  it('reads on from where it was, by whole characters', async () => {
    await writeFile(join(folder, 'log'), 'grüße, 🚢')
    expect(await disk.readFrom(join(folder, 'log'), 0, 3)).toEqual({ text: 'gr', bytes: 2 })
    expect(await disk.readFrom(join(folder, 'log'), 2, 4)).toEqual({ text: 'üß', bytes: 4 })
    expect(await disk.readFrom(join(folder, 'log'), 6, 6)).toEqual({ text: 'e, ', bytes: 3 })
    expect(await disk.readFrom(join(folder, 'log'), 9, 100)).toEqual({ text: '🚢', bytes: 4 })
    expect(await disk.readFrom(join(folder, 'log'), 13, 100)).toEqual({ text: '', bytes: 0 })
    expect(await disk.readFrom(join(folder, 'x'), 0, 100)).toBeUndefined()
  })

  it('makes and removes folders with all that is in them', async () => {
    await disk.makeFolder(join(folder, 'a/b/c'))
    await disk.makeFolder(join(folder, 'a/b/c'))
    await disk.write(join(folder, 'a/b/c/d'), 'x', 0o600)
    await disk.removeFolder(join(folder, 'a'))
    expect(await disk.names(folder)).toEqual([])
  })

  it.each([
    { name: 'no such file', act: () => disk.remove(join(folder, 'x')), code: 'DiskNotFound' },
    { name: 'a folder where a file should be', act: () => disk.write(folder, 'x', 0o600), code: 'DiskFailed' },
    { name: 'a full disk', act: () => disk.write('/dev/full', 'x', 0o666), code: 'DiskFull' },
  ])('names the failure: $name', async ({ act, code }) => {
    await expect(act()).rejects.toMatchObject({ name: 'SlipwayError', code })
  })
})
