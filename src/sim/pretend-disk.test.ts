import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PretendDisk } from './pretend-disk.ts'
import { SeededRandom } from './seeded-random.ts'

const path = '/state/file'

async function diskWith(content: string) {
  const disk = new PretendDisk()
  await disk.makeFolder('/state')
  await disk.write(path, content, 0o600)
  await disk.sync(path)
  await disk.syncFolder('/state')
  return disk
}

/** The steps of a careful write, in order. */
const careful = (disk: PretendDisk, content: string) => [
  () => disk.write(`${path}.new`, content, 0o600),
  () => disk.sync(`${path}.new`),
  () => disk.rename(`${path}.new`, path),
  () => disk.syncFolder('/state'),
]

describe('pretend disk', () => {
  it('a careful write cut by power loss leaves the old or the new, whole; after its end the new', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 0, max: 4 }), async (seed, steps) => {
        const disk = await diskWith('old')
        for (const step of careful(disk, 'new').slice(0, steps)) await step()
        disk.losePower(new SeededRandom(seed))
        const found = await disk.read(path)
        if (steps === 4) expect(found).toBe('new')
        else expect(['old', 'new']).toContain(found)
        if (steps < 3) expect(found).toBe('old')
      }),
    )
  })

  it.each([
    { name: 'a write without sync', skip: 1 },
    { name: 'a rename without sync of the folder', skip: 3 },
  ])('$name can be lost or torn', async ({ skip }) => {
    const seen = new Set<string | undefined>()
    for (let seed = 0; seed < 60; seed++) {
      const disk = await diskWith('old')
      const steps = careful(disk, 'newer').filter((_, index) => index !== skip)
      for (const step of steps) await step()
      disk.losePower(new SeededRandom(seed))
      seen.add(await disk.read(path))
    }
    expect(seen.size).toBeGreaterThan(1)
  })

  it('syncing one folder keeps no names of another', async () => {
    const seen = new Set<string | undefined>()
    for (let seed = 0; seed < 30; seed++) {
      const disk = await diskWith('old')
      await disk.makeFolder('/other')
      for (const step of careful(disk, 'new').slice(0, 3)) await step()
      await disk.syncFolder('/other')
      disk.losePower(new SeededRandom(seed))
      seen.add(await disk.read(path))
    }
    expect([...seen].sort()).toEqual(['new', 'old'])
  })

  it('keeps what was written while the power stays', async () => {
    const disk = await diskWith('old')
    await disk.write(path, 'unsynced', 0o600)
    expect(await disk.read(path)).toBe('unsynced')
    expect(await disk.readTail(path, 4)).toBe('nced')
    await disk.makeFolder('/state/deep/er')
    expect(await disk.names('/state')).toEqual(['deep', 'file'])
    await disk.removeFolder('/state')
    expect(await disk.names('/state')).toEqual([])
  })

  it('refuses what is not there', async () => {
    const disk = new PretendDisk()
    await expect(disk.write('/none/file', '', 0o600)).rejects.toMatchObject({ code: 'DiskNotFound' })
    await expect(disk.sync('/none')).rejects.toMatchObject({ code: 'DiskNotFound' })
    await expect(disk.rename('/a', '/b')).rejects.toMatchObject({ code: 'DiskNotFound' })
  })
})
