// On real files, written by the very modules that write them on a host: a new file of theirs that is not known here would stay.

import { mkdirSync } from 'node:fs'
import { mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../test/agent/agent-bench.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { x25519Sealing } from '../../adapters/crypto/x25519-sealing.ts'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { rootedDisk } from '../../adapters/disk/rooted-disk.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { emptyRecord } from '../../api/profile-record.ts'
import type { Command } from '../../ports/host.ts'
import { keepAnswer, keepStore } from '../backup/backup-record.ts'
import { JobRecord } from '../drivers/jobs/job-record.ts'
import { upgradeRecord } from '../drivers/kubeadm/upgrade-record.ts'
import { recordShelf } from '../drivers/profile/record.ts'
import { HostKey } from '../host-key.ts'
import { Journal } from '../journal/journal.ts'
import type { OrderFolder } from '../journal/order-folder.ts'
import { noteFailure } from '../sentinels/maintenance-failure.ts'
import { forgetHost, type HostMemory } from './forget-host.ts'

const stateDir = '/var/lib/slipway'
const at = new Date('2026-11-15T12:00:00Z')
const signal = new AbortController().signal
let root: string
let memory: HostMemory

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'slipway-forget-'))
  for (const folder of ['proc/1', 'var/lib', 'run/slipway', 'etc']) mkdirSync(join(root, folder), { recursive: true })
  await writeFile(join(root, 'run/slipway/agent.sock'), '')
  await writeFile(join(root, 'proc/1/mounts'), '/dev/vda / ext4 rw 0 0\n')
  const { uid, gid } = userInfo()
  await writeFile(join(root, 'etc/passwd'), `root:x:${uid}:${gid}::/:/bin/sh\n`)
  await writeFile(join(root, 'etc/group'), `root:x:${gid}:\n`)
  const disk = rootedDisk(new FileDisk(), root)
  const { files } = new LinuxHost({ disk, log: new RecordingLog(), root })
  // The one program it needs, in a machine that is a folder.
  const run = async ({ argv: [program, path = ''] }: Command) => {
    if (program !== 'rmdir') throw new Error(`${program} is not there`)
    const failed = await rmdir(join(root, path)).catch((error: Error) => error.message)
    return failed === undefined
      ? { exitCode: 0, stdout: '', stderr: '' }
      : { exitCode: 1, stdout: '', stderr: `${failed}\n` }
  }
  memory = { host: { disk, files, run }, stateDir, socket: '/run/slipway/agent.sock' }
})
afterEach(() => rm(root, { recursive: true }))

const left = async (path: string) => (await readdir(join(root, path))).toSorted()

async function work(): Promise<OrderFolder> {
  const { disk, files } = memory.host
  const journal = await Journal.open(disk, stateDir)
  await journal.remember({ epoch: 7, nodeUID: 'uid-w1' })
  const nonsense = { secret: 's', key: 'k', version: '1', recipient: 'r', text: 'x' }
  // The key is made before it is found to fit nothing.
  await expect(new HostKey(disk, stateDir, x25519Sealing).open(nonsense)).rejects.toThrow()
  await new JobRecord(stateDir).add(disk, { name: 'job', sha256: 'a'.repeat(64) }, at)
  await upgradeRecord(stateDir).begin(disk, { version: 'v1.36.3', mode: 'apply', nodeUID: 'uid-w1', backups: [] })
  await keepAnswer(disk, stateDir, { request: 'r', store: 's3', state: 'Running', startedAt: at.toISOString() })
  await noteFailure(files, stateDir, 'disk sdb is dead', at)
  for (const folder of ['mounts/far', 'scratch-etcd', 'restore/programs', 'boot-guard']) {
    await disk.makeFolder(`${stateDir}/${folder}`)
  }
  await disk.write(`${stateDir}/agent.json.tmp`, 'half', 0o600)
  return await journal.create(scriptOrder(), { steps: ['script'], undo: [] }, at)
}

const end = (order: OrderFolder) => order.close('Succeeded', { id: scriptOrder().id, state: 'Succeeded', steps: [] })

describe('a host that is to forget', () => {
  it('has nothing of the agent any more', async () => {
    await end(await work())
    expect(await forgetHost(memory, signal)).toEqual([])
    expect(await left('var/lib')).toEqual([])
    expect(await left('run')).toEqual([])
  })

  it('need not have had anything', async () => {
    await rm(join(root, 'run/slipway'), { recursive: true })
    expect(await forgetHost(memory, signal)).toEqual([])
  })

  it('keeps all while an order has not ended', async () => {
    await work()
    const before = await left('var/lib/slipway')
    expect(await forgetHost(memory, signal)).toEqual([
      { path: `${stateDir}/orders/${await firstOrder()}`, why: 'an order that has not ended' },
    ])
    expect(await left('var/lib/slipway')).toEqual(before)
  })

  it('keeps all while something is mounted there, and what is mounted', async () => {
    await end(await work())
    await writeFile(join(root, 'var/lib/slipway/mounts/far/backup'), 'precious')
    await writeFile(join(root, 'proc/1/mounts'), `nas:/x ${stateDir}/mounts/far nfs rw 0 0\n`)
    expect(await forgetHost(memory, signal)).toMatchObject([{ path: `${stateDir}/mounts/far` }])
    expect(await left('var/lib/slipway/mounts/far')).toEqual(['backup'])
  })

  it('keeps all while a restore has not ended', async () => {
    await end(await work())
    await writeFile(join(root, 'var/lib/slipway/restore/record.json'), '{}')
    expect(await forgetHost(memory, signal)).toMatchObject([{ path: `${stateDir}/restore/record.json` }])
    expect(await left('var/lib/slipway')).toContain('agent.json')
  })

  it('keeps what profiles replaced and did not put back, and nothing else', async () => {
    await end(await work())
    const prior = { kind: 'file', content: 'as it was', mode: 0o644, owner: 'root', group: 'root' } as const
    const file = { path: '/etc/motd', role: 'File', whenRemoved: 'Restore', restarts: [], prior } as const
    await recordShelf(memory.host.disk, stateDir).save({ ...emptyRecord, files: [{ ...file, restarts: [] }] })
    expect(await forgetHost(memory, signal)).toMatchObject([
      { path: `${stateDir}/profile.json`, why: expect.stringContaining('the only copy') },
    ])
    expect(await left('var/lib/slipway')).toEqual(['profile.json'])
  })

  it.each([
    { secrets: { encryption: { key: 'age-secret' } }, stays: ['backup-store.json'] },
    { secrets: { store: { token: 't' } }, stays: [] },
  ])('keeps where backups went only with their key: $stays', async ({ secrets, stays }) => {
    await end(await work())
    await keepStore(memory.host.disk, stateDir, { at: at.toISOString(), store, secrets, manifest })
    const kept = await forgetHost(memory, signal)
    expect(kept.map(({ path }) => path)).toEqual(stays.map((name) => `${stateDir}/${name}`))
  })

  it('keeps what somebody else put there', async () => {
    await end(await work())
    await writeFile(join(root, 'var/lib/slipway/notes.txt'), 'mine')
    expect(await forgetHost(memory, signal)).toEqual([
      { path: `${stateDir}/notes.txt`, why: 'it is not of our making' },
    ])
    expect(await left('var/lib/slipway')).toEqual(['notes.txt'])
  })
})

const store = { name: 'folder', path: '/backups' }
const manifest = {
  ...{ name: 'snapshot', at: at.toISOString(), node: 'cp1', etcd: '3.6.0', revision: '7', verified: 'Hash' as const },
  ...{ sha256: 'a'.repeat(64), bytes: 1, snapshotSha256: 'a'.repeat(64), snapshotBytes: 1 },
  compression: 'zstd' as const,
}

async function firstOrder(): Promise<string> {
  return (await left('var/lib/slipway/orders'))[0] ?? ''
}
