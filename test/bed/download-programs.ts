// Fetches the official builds, for machines that reach the download sites.

import { createHash } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import { etcdVersion, kubernetesPrograms, kubernetesVersion } from './versions.ts'

const answerWithinMs = 5_000
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Puts every program into the folder; throws soon where the sites do not answer or do not serve this platform. */
export async function downloadPrograms(folder: string, scratch: string): Promise<void> {
  const architecture = architectures[process.arch]
  if (process.platform !== 'linux' || architecture === undefined) {
    throw new Error(`there are no official builds for ${process.platform} on ${process.arch}`)
  }
  const download = async (url: string): Promise<Buffer> => {
    const answer = await fetchSoon(url)
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
    return Buffer.from(await answer.arrayBuffer())
  }
  try {
    for (const program of kubernetesPrograms) {
      const url = `https://dl.k8s.io/${kubernetesVersion}/bin/linux/${architecture}/${program}`
      const expected = (await download(`${url}.sha256`)).toString().trim()
      await writeChecked(join(folder, program), await download(url), expected)
    }
    await fetchEtcd(folder, scratch, architecture, download)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
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

async function fetchEtcd(
  folder: string,
  scratch: string,
  architecture: string,
  download: (url: string) => Promise<Buffer>,
): Promise<void> {
  const name = `etcd-${etcdVersion}-linux-${architecture}`
  const base = `https://github.com/etcd-io/etcd/releases/download/${etcdVersion}`
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
  await rename(join(scratch, name, 'etcd'), join(folder, 'etcd'))
}

async function writeChecked(path: string, content: Buffer, expected: string): Promise<void> {
  const found = createHash('sha256').update(content).digest('hex')
  if (found !== expected) throw new Error(`${path}: SHA-256 is ${found}, should be ${expected}`)
  await writeFile(path, content, { mode: 0o755 })
}
