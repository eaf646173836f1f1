// Brings the inputs of a release into the user's cache folder, each under its own digest; what is there is not fetched again.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Architecture, DebianPackage, NodePackage, ReleaseInputs } from './release-inputs.ts'

const run = promisify(execFile)
const answerWithinMs = 120_000

export interface InputSources {
  /** Where fetched files are kept. */
  readonly cache: string
  /** Of the archives `debian` and `debian-security`, without a slash at the end. */
  readonly debianMirror: string
}

export interface FetchedInputs {
  readonly architecture: Architecture
  /** The archive that npm packed. */
  readonly node: string
  readonly debian: readonly { readonly name: string; readonly file: string }[]
}

export async function fetchInputs(
  inputs: ReleaseInputs,
  architecture: Architecture,
  sources: InputSources,
): Promise<FetchedInputs> {
  await mkdir(sources.cache, { recursive: true })
  const node = await fetchNode(inputs.node.packages[architecture], inputs.node.version, sources.cache)
  const debian: { name: string; file: string }[] = []
  for (const each of inputs.debian.packages[architecture]) {
    debian.push({ name: each.name, file: await fetchDebian(each, sources) })
  }
  return { architecture, node, debian }
}

async function fetchNode({ name, integrity }: NodePackage, version: string, cache: string): Promise<string> {
  const wanted = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  return await kept(cache, `${name}-${version}.tgz`, { algorithm: 'sha512', digest: wanted }, async (folder) => {
    const packed = z.array(z.object({ filename: z.string() })).length(1)
    const { stdout } = await run('npm', [
      ...['pack', `${name}@${version}`, '--ignore-scripts', '--json', '--loglevel=error'],
      ...['--pack-destination', folder],
    ])
    const [file] = packed.parse(JSON.parse(stdout))
    return await readFile(join(folder, file?.filename ?? ''))
  })
}

async function fetchDebian(deb: DebianPackage, { cache, debianMirror }: InputSources): Promise<string> {
  const name = deb.path.split('/').at(-1) ?? ''
  return await kept(cache, name, { algorithm: 'sha256', digest: deb.sha256 }, async () => {
    const url = `${debianMirror}/${deb.archive}/${deb.path}`
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerWithinMs) }).catch((error: unknown) => {
      throw new SlipwayError('CannotReach', `${url} does not answer`, {
        nextStep: 'name a mirror of Debian that you reach: make release DEBIAN_MIRROR=http://…',
        cause: error,
      })
    })
    if (answer.ok) return Buffer.from(await answer.arrayBuffer())
    throw new SlipwayError('NotFound', `${url} answered ${answer.status}`, {
      nextStep:
        'Debian keeps the newest versions only: take those with make release-inputs, or name an archive with DEBIAN_MIRROR',
    })
  })
}

interface Expected {
  readonly algorithm: 'sha256' | 'sha512'
  readonly digest: string
}

async function kept(
  cache: string,
  name: string,
  expected: Expected,
  get: (folder: string) => Promise<Buffer>,
): Promise<string> {
  const path = join(cache, `${expected.digest.slice(0, 16)}-${name}`)
  const there = await readFile(path).catch(() => undefined)
  if (there !== undefined && digestOf(there, expected) === expected.digest) return path
  const folder = await mkdtemp(join(cache, 'new-'))
  try {
    const content = await get(folder)
    const found = digestOf(content, expected)
    if (found !== expected.digest) {
      throw new SlipwayError('ContentMismatch', `${name} has ${expected.algorithm} ${found}, not ${expected.digest}`, {
        nextStep:
          'somebody changed it on the way, or deploy/release/inputs.json is wrong: find out which before you go on',
      })
    }
    await writeFile(join(folder, 'whole'), content)
    await rename(join(folder, 'whole'), path)
    return path
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function digestOf(content: Buffer, { algorithm }: Expected): string {
  return createHash(algorithm).update(content).digest('hex')
}
