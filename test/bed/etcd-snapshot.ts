// Snapshots of a real etcd, made by its own programs.

import { createHash } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { nodeRequests } from '../../src/adapters/secure-requests/node-requests.ts'
import type { BackupManifest } from '../../src/api/backup.ts'
import { type Authority, makePair } from './certificates.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { runProgram } from './run-program.ts'
import { etcdVersion } from './versions.ts'

/** A cluster of etcd, by its first member. */
export interface Certified {
  readonly authority: Authority
  readonly members: readonly { readonly url: string }[]
}

const rangeSchema = z.object({
  count: z.string().default('0'),
  kvs: z.array(z.object({ value: z.string() })).default([]),
})
const statusSchema = z.object({ revision: z.int(), totalKey: z.int(), version: z.string() })

export async function etcdPrograms() {
  const set = { project: 'etcd', version: etcdVersion, programs: ['etcd', 'etcdctl', 'etcdutl'] } as const
  const folder = await programFolder(set, sayToStderr)
  return { etcd: join(folder, 'etcd'), etcdctl: join(folder, 'etcdctl'), etcdutl: join(folder, 'etcdutl') }
}

/** Over the JSON gateway, as somebody the cluster trusts. */
async function ask({ authority, members }: Certified, path: string, body: object): Promise<string> {
  const { certificate, key } = makePair(authority, { name: 'bed' })
  const url = `${members[0]?.url}${path}`
  const credentials = { ca: authority.certificate, certificate, key }
  const request = { method: 'POST', url, body: JSON.stringify(body), credentials, timeoutMs: 10_000 } as const
  const answer = await nodeRequests.send(request, AbortSignal.timeout(10_000))
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${answer.body}`)
  return answer.body
}

const keyName = (at: number) => btoa(`/registry/key-${at}`)

/** `/registry/key-N`, in one transaction for every hundred. */
export async function putKeys(cluster: Certified, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const success = Array.from({ length: Math.min(100, count - from) }, (_, at) => ({
      requestPut: { key: keyName(from + at), value: btoa(`value ${from + at}`) },
    }))
    await ask(cluster, '/v3/kv/txn', { success })
  }
}

export async function putKey(cluster: Certified, key: string, value: string): Promise<void> {
  await ask(cluster, '/v3/kv/put', { key: btoa(key), value: btoa(value) })
}

export async function readKey(cluster: Certified, key: string): Promise<string | undefined> {
  const { kvs } = rangeSchema.parse(JSON.parse(await ask(cluster, '/v3/kv/range', { key: btoa(key) })))
  return kvs[0] && atob(kvs[0].value)
}

/** Whether whoever reads or watches from that revision is told to begin anew. */
export async function isCompacted(cluster: Certified, revision: string): Promise<boolean> {
  const asked = ask(cluster, '/v3/kv/range', { key: keyName(0), revision })
  return asked.then(
    () => false,
    (error: unknown) => String(error).includes('has been compacted'),
  )
}

/** How many of them are there. */
export async function countKeys(cluster: Certified): Promise<number> {
  const all = { key: btoa('/registry/key-'), range_end: btoa('/registry/key.'), count_only: true }
  return Number(rangeSchema.parse(JSON.parse(await ask(cluster, '/v3/kv/range', all))).count)
}

export async function saveSnapshot({ authority, members }: Certified, folder: string): Promise<string> {
  const { etcdctl } = await etcdPrograms()
  const { certificate, key } = makePair(authority, { name: 'etcdctl' })
  const texts = { 'ca.crt': authority.certificate, 'ctl.crt': certificate, 'ctl.key': key }
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text, { mode: 0o600 })
  const [ca, cert, own] = Object.keys(texts).map((name) => join(folder, name))
  const file = join(folder, 'snapshot.db')
  const access = [`--endpoints=${members[0]?.url}`, `--cacert=${ca}`, `--cert=${cert}`, `--key=${own}`]
  await runProgram(etcdctl, [...access, 'snapshot', 'save', file])
  return file
}

/** As the agent would have written it beside a backup that is stored as it is. */
export async function manifestOfSnapshot(file: string, etcdutl: string): Promise<BackupManifest> {
  const status = statusSchema.parse(JSON.parse(await runProgram(etcdutl, ['snapshot', 'status', file, '-w', 'json'])))
  const sum = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  const { size } = await stat(file)
  return {
    name: 'snapshot.db',
    at: '2026-01-05T08:00:00Z',
    node: 'cp1',
    etcd: etcdVersion.slice(1),
    revision: String(status.revision),
    sha256: sum,
    bytes: size,
    snapshotSha256: sum,
    snapshotBytes: size,
    compression: 'zstd',
    verified: 'Hash',
  }
}
