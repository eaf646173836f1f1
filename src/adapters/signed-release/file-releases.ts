import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { z } from 'zod'
import { provenanceSchema, releaseFileNames, sbomSchema, signatureName, sumsName } from '../../api/signed-release.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { releaseFaults } from '../../core/signed-release/release-faults.ts'
import { type FileSum, parseSums } from '../../core/signed-release/sums.ts'
import type { ReleaseLook, SignedReleases } from '../../ports/signed-releases.ts'
import { namingPath } from '../disk/disk-error.ts'
import { hasSigned, keyIdOf, publicKey } from './release-key.ts'

const mostFaults = 20

export class FileReleases implements SignedReleases {
  readonly #builtIn: readonly string[]

  /** Public keys as PEM, for those who name none. */
  constructor(builtIn: readonly string[]) {
    this.#builtIn = builtIn
  }

  async verify(path: string, keys: readonly string[], signal: AbortSignal): Promise<ReleaseLook> {
    const found = await stat(path).catch((error: unknown) => {
      throw new SlipwayError('NotFound', `there is no ${path}`, { nextStep: 'correct the path', cause: error })
    })
    const folder = found.isDirectory() ? path : dirname(path)
    const { sums, keyId } = await signedSums(folder, keys.length > 0 ? keys : this.#builtIn)
    if (found.isDirectory()) return { keyId, ...(await wholeRelease(folder, sums, signal)) }
    const named = sums.filter(({ name }) => name === basename(path))
    if (named.length === 0) throw broken(path, [`${sumsName} beside it does not name it`])
    return { keyId, files: await checked(folder, named, signal) }
  }
}

async function signedSums(folder: string, pems: readonly string[]) {
  if (pems.length === 0) {
    throw new SlipwayError('ReleaseUntrusted', 'this program was built without a release key, so it trusts nobody', {
      nextStep: 'name the public key of whoever made the release: --key FILE',
    })
  }
  const keys = pems.map(publicKey)
  const [content, signature] = [await partOf(folder, sumsName), await partOf(folder, signatureName)]
  const signer = keys.find((key) => hasSigned(key, content, signature))
  if (!signer) {
    const ids = keys.map(keyIdOf).join(', ')
    throw new SlipwayError('ReleaseUntrusted', `${join(folder, sumsName)} was not signed with ${ids}, or was changed`, {
      nextStep: 'do not use it; fetch the release again from where it is published, or name the right key with --key',
    })
  }
  const sums = parseSums(content.toString('utf8'))
  if (sums === undefined) throw broken(folder, [`${sumsName} is signed, but is no list of sums`])
  return { sums, keyId: keyIdOf(signer) }
}

async function wholeRelease(
  folder: string,
  sums: readonly FileSum[],
  signal: AbortSignal,
): Promise<Pick<ReleaseLook, 'files' | 'whole'>> {
  const known = new Set([...sums.map(({ name }) => name), sumsName, signatureName])
  const strangers = (await readdir(folder)).filter((name) => !known.has(name)).toSorted()
  const files = await checked(
    folder,
    sums,
    signal,
    strangers.map((name) => `${name} is no part of the release`),
  )
  const provenance = await documentOf(folder, sums, releaseFileNames.provenance, provenanceSchema)
  const sbom = await documentOf(folder, sums, releaseFileNames.sbom, sbomSchema)
  const faults = releaseFaults({ sums, sbom, provenance })
  if (faults.length > 0) throw broken(folder, faults)
  const { externalParameters, internalParameters } = provenance.predicate.buildDefinition
  const { version, revision } = externalParameters
  return { files, whole: { version, revision, image: internalParameters.image, components: sbom.components.length } }
}

async function checked(
  folder: string,
  sums: readonly FileSum[],
  signal: AbortSignal,
  otherFaults: readonly string[] = [],
): Promise<ReleaseLook['files']> {
  const faults = [...otherFaults]
  const files: { name: string; bytes: number; sha256: string }[] = []
  for (const { name, sha256 } of sums) {
    const path = join(folder, name)
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isFile()) {
      faults.push(`${name} is missing`)
      continue
    }
    if ((await namingPath(path, () => sha256Of(path, signal))) !== sha256) faults.push(`${name} was changed`)
    files.push({ name, bytes: found.size, sha256 })
  }
  if (faults.length > 0) throw broken(folder, faults)
  return files
}

/** The one whose name has that form; its version is whatever its name says. */
async function documentOf<T>(
  folder: string,
  sums: readonly FileSum[],
  nameOf: (version: string) => string,
  schema: z.ZodType<T>,
): Promise<T> {
  const [before = '', after = ''] = nameOf('*').split('*')
  const name = sums.find((sum) => sum.name.startsWith(before) && sum.name.endsWith(after))?.name
  if (name === undefined) throw broken(folder, [`it has no ${nameOf('VERSION')}`])
  const content = await partOf(folder, name)
  try {
    return schema.parse(JSON.parse(content.toString('utf8')))
  } catch (error) {
    throw broken(folder, [`${name} cannot be read`], error)
  }
}

async function partOf(folder: string, name: string): Promise<Buffer> {
  return await readFile(join(folder, name)).catch((error: unknown) => {
    throw broken(folder, [`${name} is missing`], error)
  })
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function broken(path: string, faults: readonly string[], cause?: unknown): SlipwayError {
  const shown = faults.slice(0, mostFaults)
  const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : []
  return new SlipwayError(
    'ReleaseBroken',
    `${path} is not the release that was signed: ${[...shown, ...more].join('; ')}`,
    {
      nextStep: 'do not use it; fetch it again',
      cause,
    },
  )
}
