// `node bench/backup-once.ts MODE FOLDER GIB HASH [ENDPOINT CA]`: one pass of a stream like a snapshot of etcd, or of a part of what is done
// with it, into a folder or a bucket; in a process of its own, so that its memory is its own. What it reads comes from files in FOLDER.

import { openSync, readFileSync, readSync } from 'node:fs'
import { backupCodec } from '../src/adapters/backup/backup-codec.ts'
import { PathStore } from '../src/adapters/backup/path-store.ts'
import { BucketClient } from '../src/adapters/backup/s3/bucket-client.ts'
import { BucketStore } from '../src/adapters/backup/s3/bucket-store.ts'
import { compressed } from '../src/adapters/backup/zstd.ts'
import { SystemClock } from '../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../src/adapters/random/system-random.ts'
import { SnapshotStream } from '../src/agent/backup/snapshot-stream.ts'
import { SummedBytes } from '../src/agent/backup/summed-bytes.ts'
import { benchBucket, blockBytes, blockFile, linesFile, pieceBytes } from './snapshot-like.ts'

const [, , mode = '', folder = '', gibText = '1', hash = '', endpoint = '', ca = ''] = process.argv
const blocks = (Number(gibText) * 1024 ** 3) / blockBytes
const store = endpoint === '' ? new PathStore({ root: '', folder, title: folder, isLocal: true }) : bucketStore()
const { signal } = new AbortController()

function bucketStore(): BucketStore {
  const credentials = { keys: { accessKeyID: 'anyone', secretAccessKey: 'anything' } }
  const settings = {
    bucket: benchBucket,
    endpoint: new URL(endpoint),
    virtualHost: false,
    region: 'us-east-1',
    ca,
    credentials,
  }
  const client = new BucketClient(settings, { clock: new SystemClock(), random: new SystemRandom() })
  return new BucketStore(client, { scheme: 's3', bucket: benchBucket })
}

/** The file, that many times, cut where a socket would; a piece is good until the next is asked for. */
async function* repeated(path: string, bytes: number): AsyncGenerator<Uint8Array> {
  const file = openSync(path, 'r')
  const piece = Buffer.allocUnsafeSlow(bytes)
  for (let count = 0; count < blocks; count++) {
    for (let at = 0, read = 1; read > 0; at += read) {
      read = readSync(file, piece, 0, bytes, at)
      if (read > 0) yield piece.subarray(0, read)
    }
  }
}

/** As etcd's gateway sends it. */
async function* gatewayLines(): AsyncGenerator<Uint8Array> {
  yield* repeated(linesFile(folder), 65_536)
  yield Buffer.from(`{"result":{"blob":"${Buffer.from(hash, 'hex').toString('base64')}"}}\n`)
}

/** As much as the whole pass stores, of bytes that are there already. */
async function* storedBytes(bytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(65_536, 'x')
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(piece.length, left))
}

const runs: Readonly<Record<string, () => Promise<number>>> = {
  zstd: async () => {
    let bytes = 0
    for await (const piece of compressed(repeated(blockFile(folder), pieceBytes))) bytes += piece.length
    return bytes
  },
  store: async () => {
    await store.put('alone', storedBytes(Number(hash)), signal)
    return Number(hash)
  },
  whole: async () => {
    const stored = new SummedBytes(
      backupCodec.encode(new SnapshotStream(gatewayLines()), { method: 'Age', key: 'a passphrase of some length' }),
    )
    await store.put('whole', stored, signal)
    return stored.bytes
  },
}

const run = runs[mode]
if (!run) throw new Error(`no mode ${mode}`)
const begunMs = performance.now()
const bytes = await run()
const seconds = (performance.now() - begunMs) / 1000
await store.close()
const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
process.stdout.write(JSON.stringify({ seconds, bytes, peakMiB: Number(peak) / 1024 }))
