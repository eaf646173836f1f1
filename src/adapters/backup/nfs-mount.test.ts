import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Command, CommandResult } from '../../ports/host.ts'
import { SystemClock } from '../clock/system-clock.ts'
import { makeOwnFolder } from '../disk/own-folder.ts'
import { SystemRandom } from '../random/system-random.ts'
import { backupStores } from './open-stores.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'slipway-nfs-'))
/** On another file system, as an export is. */
const exported = mkdtempSync('/dev/shm/slipway-nfs-')
const mounts = join(folder, 'mounts')
beforeEach(() => rmSync(mounts, { recursive: true, force: true }))
afterAll(() => {
  for (const path of [folder, exported]) rmSync(path, { recursive: true, force: true })
})
const done: CommandResult = { exitCode: 0, stdout: '', stderr: '' }
const failed: CommandResult = { exitCode: 32, stdout: '', stderr: 'target is busy' }
const place = { name: 'far', nfs: { server: 'nas.example', path: '/export/backups' } }

/** A machine on which a link stands for a mount; a test may answer for a program instead. */
function machine(answer: (command: Command) => CommandResult | Error | undefined = () => undefined) {
  const ran: string[] = []
  const run = (command: Command) => {
    const at = command.argv.at(-1) ?? ''
    ran.push(command.argv.join(' ').replaceAll(at, at.startsWith(`${mounts}/`) ? 'MOUNT' : at))
    const given = answer(command) ?? (command.argv[0] === 'mount' ? mounted(at) : unmounted(at))
    return given instanceof Error ? Promise.reject(given) : Promise.resolve(given)
  }
  const tools = { clock: new SystemClock(), random: new SystemRandom(), host: { run }, root: '', folder: mounts }
  return { ran, stores: backupStores(tools) }
}

function mounted(at: string): CommandResult {
  rmdirSync(at)
  symlinkSync(exported, at)
  return done
}

function unmounted(at: string): CommandResult {
  try {
    unlinkSync(at)
  } catch {
    return failed
  }
  mkdirSync(at)
  return done
}

const once = async function* (text: string) {
  yield await Promise.resolve(Buffer.from(text))
}
const mountLine = (options: string) => `mount -t nfs -o ${options} nas.example:/export/backups MOUNT`

describe('an export of an NFS server', () => {
  it('is mounted while it is needed, and not longer', async () => {
    const { ran, stores } = machine()
    const store = await stores.open(place, undefined, signal)
    expect(store.location('b1')).toBe('nfs://nas.example/export/backups/b1')
    expect(await store.list(signal)).toEqual([])
    await store.close()
    expect(ran).toEqual([mountLine('soft,timeo=100,retrans=3,nosuid,nodev,noexec'), 'umount MOUNT'])
    expect(readdirSync(mounts)).toEqual([])
  })

  it('is mounted with the options that are asked for', async () => {
    const { ran, stores } = machine()
    await stores.open({ ...place, nfs: { ...place.nfs, options: 'vers=4.1' } }, undefined, signal)
    expect(ran).toEqual([mountLine('vers=4.1,nosuid,nodev,noexec')])
  })

  it('is there for two at once: who is done first does not take it from the other', async () => {
    const { stores } = machine()
    const first = await stores.open(place, undefined, signal)
    const second = await stores.open(place, undefined, signal)
    await second.close()
    await first.put('b1', once('all of it'), signal)
    expect(readdirSync(exported)).toEqual(['b1'])
    await first.close()
    rmSync(join(exported, 'b1'))
  })

  it('that a crash left mounted is let go of, and nothing that is in use', async () => {
    mkdirSync(mounts)
    for (const name of ['00000000-1-1-abcdef', 'far']) symlinkSync(exported, join(mounts, name))
    const used = await makeOwnFolder(mounts)
    const { ran, stores } = machine()
    const store = await stores.open(place, undefined, signal)
    expect(ran.slice(0, 2)).toEqual(['umount MOUNT', 'umount MOUNT'])
    await store.close()
    expect(readdirSync(mounts)).toEqual([used])
  })

  it('that somebody unmounted meanwhile is gone, and nothing goes to the disk of the host', async () => {
    const { stores } = machine()
    const store = await stores.open(place, undefined, signal)
    const [name = ''] = readdirSync(mounts)
    const cutOff = async function* () {
      yield* once('half of it')
      unmounted(join(mounts, name))
    }
    const gone = { code: 'StoreUnreachable', message: expect.stringContaining('not mounted') }
    await expect(store.put('b1', cutOff(), signal)).rejects.toMatchObject(gone)
    await expect(store.put('b1', once('all of it'), signal)).rejects.toMatchObject(gone)
    await expect(store.list(signal)).rejects.toMatchObject(gone)
    expect(readdirSync(join(mounts, name))).toEqual([])
    for (const left of readdirSync(exported)) rmSync(join(exported, left))
  })

  it('that is mounted where this process does not see it is refused', async () => {
    const { ran, stores } = machine(({ argv }) => (argv[0] === 'mount' ? done : undefined))
    await expect(stores.open(place, undefined, signal)).rejects.toMatchObject({ code: 'StoreRefused' })
    expect(ran.slice(1)).toEqual(['umount MOUNT', 'umount -l MOUNT'])
    expect(readdirSync(mounts)).toEqual([])
  })

  it.each([
    { name: 'is busy', answer: failed },
    { name: 'does not end', answer: new SlipwayError('CommandTimedOut', 'umount did not end within 60 s') },
  ])('is let go of lazily where umount $name', async ({ answer }) => {
    const { ran, stores } = machine(({ argv }) => (argv[0] === 'umount' && argv[1] !== '-l' ? answer : undefined))
    const store = await stores.open(place, undefined, signal)
    await store.close()
    expect(ran.slice(1)).toEqual(['umount MOUNT', 'umount -l MOUNT'])
    expect(readdirSync(mounts)).toEqual([])
  })

  it('that cannot be let go of at all takes nothing from what was done', async () => {
    const { stores } = machine(({ argv }) => (argv[0] === 'umount' ? new Error('the machine goes down') : undefined))
    const store = await stores.open(place, undefined, signal)
    await expect(store.close()).resolves.toBeUndefined()
  })

  it.each([
    {
      code: 'ToolMissing',
      exitCode: 32,
      stderr: 'mount: bad option; you might need a /sbin/mount.<type> helper program.',
    },
    { code: 'StoreRefused', exitCode: 32, stderr: 'mount.nfs: access denied by server while mounting nas.example' },
    {
      code: 'StoreRefused',
      exitCode: 32,
      stderr: 'mount.nfs: mounting nas:/x failed, reason given by server: No such file',
    },
    { code: 'StoreUnreachable', exitCode: 32, stderr: 'mount.nfs: Connection timed out' },
    { code: 'StoreUnreachable', exitCode: 32, stderr: 'mount.nfs: Connection refused' },
  ])('$code: $stderr', async ({ code, exitCode, stderr }) => {
    const { stores } = machine(({ argv }) => (argv[0] === 'mount' ? { exitCode, stdout: '', stderr } : undefined))
    await expect(stores.open(place, undefined, signal)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('nas.example:/export/backups'),
    })
  })

  it('that never answers is unreachable', async () => {
    const late = new SlipwayError('CommandTimedOut', 'mount did not end within 60 s')
    const { stores } = machine(({ argv }) => (argv[0] === 'mount' ? late : undefined))
    await expect(stores.open(place, undefined, signal)).rejects.toMatchObject({ code: 'StoreUnreachable' })
  })
})
