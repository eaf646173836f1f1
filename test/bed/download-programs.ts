// Fetches the official builds, for machines that reach the download sites.

import { createHash } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramSet } from './program-set.ts'
import { runProgram } from './run-program.ts'

const answerWithinMs = 5_000
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Puts every program of the set into the folder; throws soon where the sites do not answer or do not serve this platform. */
export async function downloadPrograms(set: ProgramSet, folder: string, scratch: string): Promise<void> {
  const architecture = architectures[process.arch]
  if (process.platform !== 'linux' || architecture === undefined) {
    throw new Error(`there are no official builds for ${process.platform} on ${process.arch}`)
  }
  try {
    if (set.project === 'kubernetes') await fetchKubernetes(set, folder, architecture)
    else if (set.project === 'etcd') await fetchEtcd(set, folder, scratch, architecture)
    else throw new Error(`the tests build ${set.project} themselves`)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function fetchKubernetes({ version, programs }: ProgramSet, folder: string, architecture: string): Promise<void> {
  for (const program of programs) {
    const url = `https://dl.k8s.io/${version}/bin/linux/${architecture}/${program}`
    const expected = (await download(`${url}.sha256`)).toString().trim()
    await writeChecked(join(folder, program), await download(url), expected)
  }
}

async function fetchEtcd(set: ProgramSet, folder: string, scratch: string, architecture: string): Promise<void> {
  const name = `etcd-${set.version}-linux-${architecture}`
  const base = `https://github.com/etcd-io/etcd/releases/download/${set.version}`
  const sums = (await download(`${base}/SHA256SUMS`)).toString()
  const expected = sums
    .split('\n')
    .find((line) => line.endsWith(`${name}.tar.gz`))
    ?.split(' ')[0]
  if (expected === undefined) throw new Error(`${base}/SHA256SUMS does not name ${name}.tar.gz`)
  await mkdir(scratch, { recursive: true })
  const archive = join(scratch, 'etcd.tar.gz')
  await writeChecked(archive, await download(`${base}/${name}.tar.gz`), expected)
  await runProgram('tar', ['-xzf', archive, '-C', scratch])
  for (const program of set.programs) await rename(join(scratch, name, program), join(folder, program))
}

async function download(url: string): Promise<Buffer> {
  const answer = await fetchSoon(url)
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** The answer must begin soon; its body may then take its time. */
async function fetchSoon(url: string): Promise<Response> {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(new Error(`${url} does not answer`)), answerWithinMs)
  try {
    return await fetch(url, { signal: silent.signal })
  } finally {
    clearTimeout(timer)
  }
}

async function writeChecked(path: string, content: Buffer, expected: string): Promise<void> {
  const found = createHash('sha256').update(content).digest('hex')
  if (found !== expected) throw new Error(`${path}: SHA-256 is ${found}, should be ${expected}`)
  await writeFile(path, content, { mode: 0o755 })
}
