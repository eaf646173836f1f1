// A large snapshot on its way into a store: what the whole pass costs beside its slowest part, and how much memory it needs.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, makePair } from '../test/bed/certificates.ts'
import { startMoto } from '../test/bed/moto.ts'
import { serverOrReason } from '../test/bed/optional-server.ts'
import { runProgram } from '../test/bed/run-program.ts'
import { startTlsFront } from '../test/bed/tls-front.ts'
import { type Bench, median } from './figure.ts'
import { agentNodeFlags } from './shipped-flags.ts'
import { benchBucket, blockBytes, snapshotBlock, writeSnapshotFiles } from './snapshot-like.ts'

const gib = 1
const rounds = 3

interface Pass {
  readonly seconds: number
  readonly bytes: number
  readonly peakMiB: number
}

export const backupStream: Bench = {
  name: 'backup-stream',
  alone: true,
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-backup-bench-'))
    try {
      // Bundled, as it is shipped: the flags leave no room for a reader of TypeScript.
      const program = join(folder, 'backup-once.mjs')
      const rolldown = ['bench/backup-once.ts', '--file', program, '--format', 'esm', '--platform', 'node']
      await runProgram('node_modules/.bin/rolldown', [...rolldown, '--log-level', 'warn'])
      const hash = createHash('sha256')
      const block = snapshotBlock()
      writeSnapshotFiles(folder, block)
      for (let count = 0; count < (gib * 1024 ** 3) / blockBytes; count++) hash.update(block)
      const given = hash.digest('hex')
      const pass = async (mode: string, last: string, bucket: readonly string[] = []) => {
        const args = [...agentNodeFlags(), program, mode, folder, String(gib), last, ...bucket]
        return JSON.parse(await runProgram(process.execPath, args)) as Pass
      }
      const wholes: Pass[] = []
      const zstds: Pass[] = []
      const stores: Pass[] = []
      // In turns: what else the machine does meets all of them alike.
      for (let round = 0; round < rounds; round++) {
        const whole = await pass('whole', given)
        wholes.push(whole)
        zstds.push(await pass('zstd', ''))
        stores.push(await pass('store', String(whole.bytes)))
      }
      const bucket = await inBucket(async (...place) => {
        const whole = await pass('whole', given, place)
        return { whole, store: await pass('store', String(whole.bytes), place) }
      })
      const seconds = (passes: readonly Pass[]) => median(passes.map((each) => each.seconds))
      const slower = Math.max(seconds(zstds), seconds(stores))
      const peakMiB = Math.max(...wholes.map((each) => each.peakMiB))
      return {
        figures: [
          {
            what: 'backup of 1 GiB, compressed, encrypted and stored: speed beside its slowest part',
            measured: slower / seconds(wholes),
            wanted: { atLeast: 0.8 },
            unit: '×',
          },
          { what: 'backup of 1 GiB: most memory', measured: peakMiB, wanted: { atMost: 100 }, unit: 'MiB' },
          ...(bucket
            ? [
                {
                  what: 'backup of 1 GiB into a bucket of S3 over TLS: most memory',
                  measured: bucket.whole.peakMiB,
                  wanted: { atMost: 100 },
                  unit: 'MiB',
                },
              ]
            : []),
        ],
        seen: {
          wholeSeconds: seconds(wholes),
          zstdSeconds: seconds(zstds),
          storeSeconds: seconds(stores),
          ...(bucket && { bucketSeconds: bucket.whole.seconds, bucketStoreSeconds: bucket.store.seconds }),
          storedMiB: (wholes[0]?.bytes ?? 0) / 1024 ** 2,
        },
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Over TLS, as buckets are mostly reached, and where it takes the most memory. Undefined where there is no server to be had, which is said. */
async function inBucket<T>(measure: (endpoint: string, ca: string) => Promise<T>): Promise<T | undefined> {
  const server = await serverOrReason('MOTO', startMoto)
  if (typeof server === 'string') return undefined
  const authority = makeAuthority('bench-ca')
  const tls = await startTlsFront(server.endpoint, makePair(authority, { name: 'store', ips: ['127.0.0.1'] }))
  try {
    await fetch(`${server.endpoint}/${benchBucket}`, { method: 'PUT' })
    return await measure(tls.url, authority.certificate)
  } finally {
    tls.stop()
    await server.stop()
  }
}
