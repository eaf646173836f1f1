// A snapshot proven by a restore, with etcd's real programs.

import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { ScratchRestore } from '../../src/adapters/etcd/scratch-restore.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { startTimeOf } from '../../src/adapters/host/process-table.ts'
import { nodeRequests } from '../../src/adapters/secure-requests/node-requests.ts'
import type { BackupManifest } from '../../src/api/backup.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { EtcdCluster } from '../bed/etcd-cluster.ts'
import { etcdPrograms, manifestOfSnapshot, putKeys, saveSnapshot } from '../bed/etcd-snapshot.ts'

const keys = 250
let cluster: EtcdCluster
let folder: string
let snapshot: string
let manifest: BackupManifest
let programs: Awaited<ReturnType<typeof etcdPrograms>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-proof-'))
  programs = await etcdPrograms()
  cluster = await EtcdCluster.start()
  await putKeys(cluster, keys)
  snapshot = await saveSnapshot(cluster, folder)
  manifest = await manifestOfSnapshot(snapshot, programs.etcdutl)
}, 240_000)

afterAll(async () => {
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true })
})

const signal = new AbortController().signal

function proof(given = programs) {
  const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
  return new ScratchRestore({ host, requests: nodeRequests, folder: join(folder, 'scratch'), given })
}

describe('a proof by restore', () => {
  it('shows revision and keys, and leaves nothing', { timeout: 120_000 }, async () => {
    const look = await proof().look(createReadStream(snapshot), manifest, signal)
    expect(look).toMatchObject({ revision: manifest.revision, version: manifest.etcd })
    expect(look.keys).toBe(keys)
    expect(readdirSync(join(folder, 'scratch'))).toEqual([])
    expect(running(join(folder, 'scratch'))).toEqual([])
  })

  it('does not count where the manifest promises more', { timeout: 120_000 }, async () => {
    const revision = String(BigInt(manifest.revision) + 1n)
    await expect(proof().look(createReadStream(snapshot), { ...manifest, revision }, signal)).rejects.toMatchObject({
      code: 'RestoreUnproven',
      message: expect.stringContaining(`at least ${revision}`),
    })
    expect(running(join(folder, 'scratch'))).toEqual([])
  })

  it('sees altered and cut snapshots', { timeout: 120_000 }, async () => {
    const altered = join(folder, 'altered.db')
    const bytes = await readFile(snapshot)
    const file = await open(altered, 'w')
    bytes.fill(0x55, bytes.length >> 1, (bytes.length >> 1) + 64)
    await file.writeFile(bytes)
    await file.close()
    const failing = { code: 'RestoreUnproven', message: expect.stringContaining('etcdutl snapshot restore failed') }
    await expect(proof().look(createReadStream(altered), manifest, signal)).rejects.toMatchObject(failing)
    const half = createReadStream(snapshot, { end: (await stat(snapshot)).size >> 1 })
    await expect(proof().look(half, manifest, signal)).rejects.toMatchObject(failing)
  })

  it('does not touch one that runs beside it', { timeout: 120_000 }, async () => {
    const scratch = join(folder, 'scratch')
    const of = proof()
    const { promise: isMidway, resolve: reachMidway } = Promise.withResolvers<void>()
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
    const slowly = async function* () {
      reachMidway()
      await mayGoOn
      yield* createReadStream(snapshot) as AsyncIterable<Uint8Array>
    }
    const first = of.look(slowly(), manifest, signal)
    await isMidway
    // As one that another process makes, such as the agent while somebody is at the command line.
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8)
    const others = join(scratch, `${boot}-${process.ppid}-${await startTimeOf(process.ppid)}-abcdef`)
    await mkdir(others)
    const second = await of.look(createReadStream(snapshot), manifest, signal)
    expect(existsSync(others)).toBe(true)
    goOn()
    expect(await first).toEqual(second)
    await rm(others, { recursive: true })
    expect(readdirSync(scratch)).toEqual([])
  })

  it('ends and clears away what a crash left', { timeout: 120_000 }, async () => {
    const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
    const left = join(folder, 'scratch/00000000-1-1-abcdef')
    const cut = join(folder, 'scratch/00000000-1-1-ghijkl')
    for (const path of [left, cut]) await mkdir(path, { recursive: true })
    const paths = { logPath: join(left, 'log'), logBytes: 1000, resultPath: join(left, 'result') }
    const held = await host.hold({ name: 'left', argv: ['sleep', '600'], env: {}, ...paths }, signal)
    await held.release()
    await writeFile(join(left, 'process.json'), JSON.stringify(held.identity))
    await writeFile(join(cut, 'process.json'), '{"pid":')
    await proof().look(createReadStream(snapshot), manifest, signal)
    expect(await host.look(held.identity, paths.resultPath)).not.toMatchObject({ state: 'running' })
    expect(readdirSync(join(folder, 'scratch'))).toEqual([])
  })

  it('is not begun without three times the room', async () => {
    const large = { ...manifest, snapshotBytes: 2 ** 50 }
    await expect(proof().look(createReadStream(snapshot), large, signal)).rejects.toMatchObject({ code: 'DiskTooFull' })
    expect(readdirSync(join(folder, 'scratch'))).toEqual([])
  })

  it('names the programs that do not fit', async () => {
    const old = { ...manifest, etcd: '3.7.1' }
    await expect(proof().look(createReadStream(snapshot), old, signal)).rejects.toMatchObject({
      code: 'ToolMissing',
      message: expect.stringContaining('the snapshot is of etcd 3.7.1'),
    })
  })
})

/** Processes of this machine that name the folder. */
function running(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .flatMap((pid) => {
      const line = commandLine(pid)
      return line.includes(text) ? [line] : []
    })
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
