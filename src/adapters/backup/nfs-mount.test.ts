import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Command, CommandResult } from '../../ports/host.ts'
import { SystemClock } from '../clock/system-clock.ts'
import { SystemRandom } from '../random/system-random.ts'
import { backupStores } from './open-stores.ts'

const { signal } = new AbortController()
const root = mkdtempSync(join(tmpdir(), 'slipway-nfs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const done: CommandResult = { exitCode: 0, stdout: '', stderr: '' }
const place = { name: 'far', nfs: { server: 'nas.example', path: '/export/backups' } }

/** A machine that answers mount and umount as told, and is otherwise a folder. */
function machine(answer: (command: Command) => CommandResult | Error | undefined) {
  const ran: string[] = []
  const run = (command: Command) => {
    ran.push(command.argv.join(' '))
    const given = answer(command) ?? (command.argv[0] === 'mountpoint' ? { ...done, exitCode: 32 } : done)
    return given instanceof Error ? Promise.reject(given) : Promise.resolve(given)
  }
  const tools = { clock: new SystemClock(), random: new SystemRandom(), host: { run }, root, folder: '/run/mounts' }
  return { ran, stores: backupStores(tools) }
}

describe('an export of an NFS server', () => {
  it('is mounted while it is needed, and not longer', async () => {
    const { ran, stores } = machine(() => undefined)
    const store = await stores.open(place, undefined, signal)
    expect(store.location('b1')).toBe('nfs://nas.example/export/backups/b1')
    expect(await store.list(signal)).toEqual([])
    await store.close()
    expect(ran).toEqual([
      'mountpoint -q /run/mounts/far',
      'mount -t nfs -o soft,timeo=100,retrans=3,nosuid,nodev,noexec nas.example:/export/backups /run/mounts/far',
      'umount /run/mounts/far',
    ])
  })

  it('that a crash left mounted is mounted anew, with the options that are asked for', async () => {
    const { ran, stores } = machine(({ argv }) => {
      if (argv[0] === 'mountpoint') return done
      return argv[0] === 'umount' && argv[1] !== '-l' ? { ...done, exitCode: 32, stderr: 'target is busy' } : undefined
    })
    await stores.open({ ...place, nfs: { ...place.nfs, options: 'vers=4.1' } }, undefined, signal)
    expect(ran.slice(1)).toEqual([
      'umount /run/mounts/far',
      'umount -l /run/mounts/far',
      'mount -t nfs -o vers=4.1,nosuid,nodev,noexec nas.example:/export/backups /run/mounts/far',
    ])
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
