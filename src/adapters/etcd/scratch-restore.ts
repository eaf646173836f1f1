// Proves a snapshot by restoring it: into a folder of its own, read by an etcd that listens on a socket in that folder alone, since
// what it holds are the cluster's secrets. The agent and somebody at the command line may prove at the same time; what a crash left is
// ended and cleared away by the next.

import { createWriteStream } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { BackupManifest } from '../../api/backup.ts'
import { gatewayStatusSchema } from '../../api/etcd-gateway.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { roomNeeded, type ScratchLook, whyUnproven } from '../../core/restore/proof.ts'
import type { Host, ProcessIdentity } from '../../ports/host.ts'
import type { RestoreProof } from '../../ports/restore-proof.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import { systemCode } from '../disk/disk-error.ts'
import { leftFolders, makeOwnFolder } from '../disk/own-folder.ts'
import { findPrograms, type ProgramWish } from './find-programs.ts'

export interface ScratchRestoreOptions {
  readonly host: Host
  readonly requests: SecureRequests
  /** For proofs alone, each makes its own in it; the same for this process and for the machine. Short: a socket's path has 107 bytes. */
  readonly folder: string
  readonly given?: ProgramWish['given']
}

const name = 'scratch'
/** Nobody asks there: it listens on sockets. */
const nowhere = 'http://localhost:1'
const restoreMs = 30 * 60_000
const startMs = 5 * 60_000
const pollMs = 100
const graceMs = 5_000
const logBytes = 1_048_576
const everything = btoa('\0')

const identitySchema = z.object({
  pid: z.int(),
  startTime: z.string(),
  bootId: z.string(),
  unit: z.string().optional(),
})
const countSchema = z.object({ count: z.string().regex(/^\d+$/).default('0') })

export class ScratchRestore implements RestoreProof {
  readonly #options: ScratchRestoreOptions
  /** The names of the folders in which this process proves something now. */
  readonly #inUse = new Set<string>()

  constructor(options: ScratchRestoreOptions) {
    this.#options = options
  }

  async prove(snapshot: AsyncIterable<Uint8Array>, manifest: BackupManifest, signal: AbortSignal): Promise<void> {
    await this.look(snapshot, manifest, signal)
  }

  /** The same, and says what was seen. */
  async look(snapshot: AsyncIterable<Uint8Array>, manifest: BackupManifest, signal: AbortSignal): Promise<ScratchLook> {
    const { folder } = this.#options
    for (const left of await leftFolders(folder, this.#inUse)) await this.#clear(join(folder, left), signal)
    await this.#checkRoom(manifest)
    const own = await makeOwnFolder(folder)
    this.#inUse.add(own)
    try {
      return await this.#lookIn(join(folder, own), snapshot, manifest, signal)
    } finally {
      // Also when the work was called off: neither the process nor the secrets stay. Where that fails, the next one tries again.
      await this.#clear(join(folder, own), AbortSignal.timeout(60_000)).finally(() => this.#inUse.delete(own))
    }
  }

  async #lookIn(
    folder: string,
    snapshot: AsyncIterable<Uint8Array>,
    manifest: BackupManifest,
    signal: AbortSignal,
  ): Promise<ScratchLook> {
    const { host, given = {} } = this.#options
    await keep(snapshot, join(folder, 'snapshot.db'), signal)
    const needs = ['etcdutl', 'etcd'] as const
    const wish = { needs, snapshot: manifest.etcd, folder: join(folder, 'programs'), given }
    const { etcdutl, etcd } = await findPrograms(host, wish, signal)
    await this.#restore(etcdutl?.path ?? '', folder, signal)
    const look = await this.#start(etcd?.path ?? '', folder, signal)
    const why = whyUnproven(look, manifest)
    if (why !== undefined) throw unproven(why)
    return look
  }

  async #checkRoom({ snapshotBytes }: BackupManifest): Promise<void> {
    const { host, folder } = this.#options
    const needed = roomNeeded(snapshotBytes)
    const free = await host.files.freeBytes(folder)
    if (free >= needed) return
    throw new SlipwayError(
      'DiskTooFull',
      `a restore to prove the backup needs ${needed} bytes free at ${folder}, there are ${free}`,
      { nextStep: 'free some room, prove it elsewhere with slipway backup verify --restore, or ask for verify: Hash' },
    )
  }

  async #restore(etcdutl: string, folder: string, signal: AbortSignal): Promise<void> {
    const argv = [
      etcdutl,
      'snapshot',
      'restore',
      join(folder, 'snapshot.db'),
      `--data-dir=${join(folder, 'data')}`,
      `--name=${name}`,
      `--initial-cluster=${name}=${nowhere}`,
      `--initial-advertise-peer-urls=${nowhere}`,
    ]
    const { exitCode, stderr, stdout } = await this.#options.host.run({ argv, timeoutMs: restoreMs }, signal)
    if (exitCode !== 0) throw unproven(`etcdutl snapshot restore failed: ${lastLine(stderr || stdout)}`)
  }

  async #start(etcd: string, folder: string, signal: AbortSignal): Promise<ScratchLook> {
    const { host } = this.#options
    const socketPath = join(folder, 'client.sock')
    const resultPath = join(folder, 'result')
    const argv = [
      etcd,
      `--name=${name}`,
      `--data-dir=${join(folder, 'data')}`,
      `--listen-client-urls=unix://${socketPath}`,
      `--advertise-client-urls=${nowhere}`,
      `--listen-peer-urls=unix://${join(folder, 'peer.sock')}`,
      `--initial-advertise-peer-urls=${nowhere}`,
      `--initial-cluster=${name}=${nowhere}`,
      '--log-level=error',
      // It is thrown away again.
      '--unsafe-no-fsync',
    ]
    const logPath = join(folder, 'log')
    const jobName = `slipway-scratch-etcd-${process.pid}-${Date.now()}`
    const held = await host.hold({ name: jobName, argv, env: {}, logPath, logBytes, resultPath }, signal)
    // Before it runs: whoever comes after a crash must find it.
    await writeFile(join(folder, 'process.json'), JSON.stringify(held.identity), { mode: 0o600 })
    await held.release()
    const untilMs = performance.now() + startMs
    for (;;) {
      const look = await this.#look(socketPath, signal)
      if (look) return look
      const { state } = await host.look(held.identity, resultPath)
      if (state !== 'running') throw unproven(`the scratch etcd ended: ${lastLine(await textOf(logPath))}`)
      if (performance.now() > untilMs) throw unproven(`the scratch etcd did not answer within ${startMs / 1000} s`)
      await delay(pollMs, undefined, { signal })
    }
  }

  /** Undefined while it does not answer. */
  async #look(socketPath: string, signal: AbortSignal): Promise<ScratchLook | undefined> {
    const ask = async (path: string, body: object) => {
      const request = { method: 'POST', url: `http://localhost${path}`, socketPath, timeoutMs: 60_000 } as const
      const whole = { ...request, body: JSON.stringify(body), credentials: {} }
      const { status, body: text } = await this.#options.requests.send(whole, signal)
      if (status !== 200) throw new SlipwayError('CannotReach', `${path} answers ${status}`)
      return JSON.parse(text) as unknown
    }
    try {
      const { version, header } = gatewayStatusSchema.parse(await ask('/v3/maintenance/status', {}))
      const all = { key: everything, range_end: everything, count_only: true }
      const { count } = countSchema.parse(await ask('/v3/kv/range', all))
      return { version, revision: header.revision, keys: Number(count) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof SlipwayError && error.code === 'CannotReach') return undefined
      throw error
    }
  }

  async #clear(folder: string, signal: AbortSignal): Promise<void> {
    const identity = identityIn(await textOf(join(folder, 'process.json')))
    if (identity) await this.#options.host.end(identity, graceMs, signal)
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Undefined also where a cut left half of it: what it was written for had not begun to run. */
function identityIn(text: string): ProcessIdentity | undefined {
  try {
    return identitySchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function keep(snapshot: AsyncIterable<Uint8Array>, file: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(snapshot, createWriteStream(file, { mode: 0o600 }), { signal })
  } catch (error) {
    if (systemCode(error) !== 'ENOSPC') throw error
    throw new SlipwayError('DiskTooFull', `${file}: the disk became full`, {
      nextStep: 'free some room, then try again',
      cause: error,
    })
  }
}

function unproven(message: string): SlipwayError {
  return new SlipwayError('RestoreUnproven', message, {
    nextStep: 'use another backup, and look at etcd and the store',
  })
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return ''
    throw error
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 1000) ?? ''
}
