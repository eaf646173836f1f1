import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { FileDisk } from './file-disk.ts'
import { rootedDisk } from './rooted-disk.ts'

const root = await mkdtemp(join(tmpdir(), 'slipway-rooted-'))
afterAll(() => rm(root, { recursive: true }))

describe('a rooted disk', () => {
  it('keeps every path inside its folder', async () => {
    const disk = rootedDisk(new FileDisk(), join(root, 'w1'))
    await disk.makeFolder('/var/lib')
    await disk.write('/var/lib/a', 'inside', 0o600)
    await disk.rename('/var/lib/a', '/var/lib/b')
    expect(await readFile(join(root, 'w1/var/lib/b'), 'utf8')).toBe('inside')
    expect(await disk.names('/var/lib')).toEqual(['b'])
    expect(await disk.read('/../../w1/var/lib/b')).toBeUndefined()
    expect(await disk.read('/../var/lib/b')).toBe('inside')
  })
})
