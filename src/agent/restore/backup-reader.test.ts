import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '../../../test/fakes/memory-disk.ts'
import { MemoryStore } from '../../../test/fakes/memory-store.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import type { BackupManifest } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { VirtualClock } from '../../sim/virtual-clock.ts'
import { BackupReader } from './backup-reader.ts'

const { signal } = new AbortController()
const place = { settings: '/settings.json' }
const own = async () => []
const content = Buffer.from('all that Kubernetes knows')

/** A store with backups, the first the newest, and one who reads them. */
async function bench(...names: readonly string[]) {
  const store = new MemoryStore()
  const disk = new MemoryDisk()
  const settings = { store: { name: 'nightly', path: '/backups' }, secrets: {} }
  await disk.write(place.settings, JSON.stringify(settings))
  names.forEach((name, index) => {
    store.objects.set(name, content)
    store.objects.set(`${name}.json`, Buffer.from(JSON.stringify(manifestOf(name, 59 - index))))
  })
  const reader = new BackupReader({
    host: new LinuxHost({ disk, log: silentLog }),
    clock: new VirtualClock(),
    stores: store,
    codec: { encode: (snapshot) => snapshot, decode: (stored) => stored, canDecode: () => true },
    stateDir: '/state',
    etcdutl: () => Promise.reject(new Error('no program is needed')),
    openFile: () => inOnePiece(),
    sum: () => Promise.reject(new Error('no file is read')),
  })
  const read = (name?: string) =>
    reader.read(place, { name, own }, signal, async (manifest) => Promise.resolve(manifest.name))
  const list = async () => (await reader.list(place, signal)).map(({ name }) => name)
  return { store, read, list }
}

async function* inOnePiece() {
  yield await Promise.resolve(content)
}

function manifestOf(name: string, minute: number): BackupManifest {
  return {
    ...{ name, at: `2026-01-05T08:${minute}:00Z`, node: 'cp1', cluster: 'ca-1', etcd: '3.6.8', revision: '41' },
    ...{ sha256: '0'.repeat(64), bytes: content.length },
    ...{ snapshotSha256: '1'.repeat(64), snapshotBytes: content.length },
    ...{ compression: 'zstd', verified: 'Hash' },
  }
}

const standing = (code: 'StoreRefused' | 'StoreUnreachable', wanted: string) => (what: string, name: string) =>
  what === 'get' && name === wanted ? Promise.reject(new SlipwayError(code, 'EACCES')) : Promise.resolve()

describe('a manifest that the store does not give', () => {
  it('does not stand in the way of the others', async () => {
    const { store, read, list } = await bench('locked', 'second', 'third')
    store.before = standing('StoreRefused', 'locked.json')
    expect(await list()).toEqual(['second', 'third'])
    expect(await read()).toBe('second')
    expect(await read('third')).toBe('third')
  })

  it('is named with its cause where it is the one that is asked for', async () => {
    const { store, read } = await bench('locked', 'second')
    store.before = standing('StoreRefused', 'locked.json')
    await expect(read('locked')).rejects.toMatchObject({ code: 'StoreRefused', message: 'EACCES' })
  })

  it('is told where the store gives none of them', async () => {
    const { store, read, list } = await bench('first', 'second')
    store.before = (what) =>
      what === 'get' ? Promise.reject(new SlipwayError('StoreRefused', '403')) : Promise.resolve()
    await expect(list()).rejects.toMatchObject({ code: 'StoreRefused' })
    await expect(read()).rejects.toMatchObject({ code: 'StoreRefused' })
  })

  it('for now is no reason to take another one', async () => {
    const { store, read, list } = await bench('far', 'second')
    store.before = standing('StoreUnreachable', 'far.json')
    await expect(read()).rejects.toMatchObject({ code: 'StoreUnreachable' })
    await expect(list()).rejects.toMatchObject({ code: 'StoreUnreachable' })
    expect(await read('second')).toBe('second')
  })
})

describe('a backup that is not whole', () => {
  it('is not chosen: its object is gone, or of another size', async () => {
    const { store, read } = await bench('gone', 'cut', 'whole')
    store.objects.delete('gone')
    store.objects.set('cut', content.subarray(1))
    expect(await read()).toBe('whole')
    await expect(read('gone')).rejects.toMatchObject({ code: 'BackupDamaged' })
    store.objects.delete('whole')
    await expect(read()).rejects.toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('holds no whole backup'),
    })
  })
})

describe('a name that the store does not hold', () => {
  it.each(['nope', '../second', 'second.json'])('%s is told with those there are', async (name) => {
    const { store, read } = await bench('first', 'second')
    store.objects.set('../second.json', Buffer.from(JSON.stringify(manifestOf('second', 30))))
    await expect(read(name)).rejects.toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('no such backup'),
      nextStep: 'it has first, second',
    })
  })
})
