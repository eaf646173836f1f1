// The distribution protocol of OCI, as far as looking needs it: which tags there are, what one names, and what
// refers to it. Nothing is fetched.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Referrer } from '../../api/image-signature.ts'
import { imageConfigSchema, imageIndexSchema, imageManifestSchema } from '../../api/os-image.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type ImageReference, parseImageReference } from '../../core/image/reference.ts'
import { jsonOf } from '../../core/json-text.ts'
import type { FoundImage, Platform, Registry, RegistryAccess } from '../../ports/registry.ts'
import { nextPage } from './next-page.ts'
import { allReferrers } from './referrers.ts'
import { cannotReach } from './registry-failure.ts'
import { type Found, type Limits, type Place, RegistrySession } from './registry-session.ts'

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** What a registry is known by in references, and where it answers. */
const knownAs: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

const tagsAtMost = 100_000
const tagsPerPage = 1000
const defaultLimits: Limits = { timeoutMs: 20_000, maxBytes: 8 * 1024 * 1024 }

const tagsSchema = z.object({ tags: z.array(z.string().max(256)).nullish() })

export class HttpRegistry implements Registry {
  readonly #limits: Limits

  constructor(options: Partial<Limits> = {}) {
    this.#limits = { ...defaultLimits, ...options }
  }

  async tags(repository: string, access: RegistryAccess, signal: AbortSignal): Promise<readonly string[]> {
    return this.#ask(parsed(repository), access, (session) => allTags(session, signal))
  }

  async look(text: string, access: RegistryAccess, signal: AbortSignal): Promise<FoundImage> {
    const reference = parsed(text)
    return this.#ask(reference, access, (session) => lookAt(session, reference, signal))
  }

  async referrers(
    repository: string,
    digests: readonly string[],
    access: RegistryAccess,
    signal: AbortSignal,
  ): Promise<readonly Referrer[]> {
    // A mirror may hold the image and know nothing of what refers to it.
    const isEnough = (found: readonly Referrer[]) => found.length > 0
    return this.#ask(parsed(repository), access, (session) => allReferrers(session, digests, signal), isEnough)
  }

  /** Mirrors first; what they do not answer, or not enough of, the registry itself is asked for. */
  async #ask<T>(
    { name }: ImageReference,
    access: RegistryAccess,
    question: (session: RegistrySession) => Promise<T>,
    isEnough: (found: T) => boolean = () => true,
  ): Promise<T> {
    const [host = '', ...path] = name.split('/')
    const repository = path.join('/')
    const failures: SlipwayError[] = []
    let little: { readonly found: T } | undefined
    for (const place of placesOf(host, access)) {
      try {
        const found = await question(new RegistrySession(place, repository, this.#limits))
        if (isEnough(found)) return found
        little = { found }
      } catch (error) {
        if (!(error instanceof SlipwayError) || !(error.code === 'CannotReach' || error.code === 'RegistryRefused')) {
          throw error
        }
        failures.push(error)
      }
    }
    if (little) return little.found
    throw together(failures)
  }
}

function parsed(text: string): ImageReference {
  const reference = parseImageReference(text)
  if (reference) return reference
  throw new SlipwayError('RegistryRefused', `${text} is no name of an image in a registry`, {
    nextStep: 'write it as registry.example/name:tag or registry.example/name@sha256:…',
  })
}

function placesOf(host: string, { mirrors = [], plain, username, password, ca }: RegistryAccess): readonly Place[] {
  const own = {
    base: new URL(`${plain ? 'http' : 'https'}://${knownAs[host] ?? host}/v2/`),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca }),
  }
  return [...mirrors.map(({ url, ...credentials }) => ({ ...credentials, base: mirrorBase(url) })), own]
}

function mirrorBase(text: string): URL {
  const { origin, pathname } = new URL(text)
  const folder = pathname.replaceAll(/^\/+|\/+$/g, '')
  return new URL(`${origin}/v2/${folder === '' ? '' : `${folder}/`}`)
}

/** Only what everyone refuses stays refused: a mirror that is away now may have it later. */
function together(failures: readonly SlipwayError[]): SlipwayError {
  const passing = failures.filter(({ code }) => code === 'CannotReach')
  const [first] = passing.length > 0 ? passing : failures.slice(-1)
  if (first && failures.length === 1) return first
  const waits = passing.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  return new SlipwayError(first?.code ?? 'CannotReach', failures.map(({ message }) => message).join('; '), {
    ...(first?.nextStep !== undefined && { nextStep: first.nextStep }),
    retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
    cause: first,
  })
}

async function allTags(session: RegistrySession, signal: AbortSignal): Promise<readonly string[]> {
  const tags = new Set<string>()
  let next: string | URL | undefined = `tags/list?n=${tagsPerPage}`
  while (next !== undefined) {
    const page: Found = await session.get(next, 'application/json', signal)
    const read = tagsSchema.safeParse(jsonOf(page.answer.body.toString('utf8')))
    if (!read.success) throw cannotReach(page.url, 'answers something that is no list of tags')
    const before = tags.size
    for (const tag of read.data.tags ?? []) tags.add(tag)
    if (tags.size > tagsAtMost) throw cannotReach(page.url, `has more than ${tagsAtMost} tags`)
    next = nextPage(page)
    if (next && tags.size === before)
      throw cannotReach(page.url, 'has one page of tags after the other with nothing new')
  }
  return [...tags]
}

async function lookAt(session: RegistrySession, reference: ImageReference, signal: AbortSignal): Promise<FoundImage> {
  const found = await session.get(`manifests/${reference.digest ?? reference.tag ?? 'latest'}`, manifestTypes, signal)
  const digest = checkedDigest(found, reference.digest)
  const json = jsonOf(found.answer.body.toString('utf8'))
  const index = imageIndexSchema.safeParse(json)
  if (index.success) {
    const platforms = index.data.manifests.flatMap(({ platform, digest: own }) =>
      platform ? [{ ...platform, digest: own }] : [],
    )
    return { digest, platforms: distinct(platforms) }
  }
  const image = imageManifestSchema.safeParse(json)
  if (!image.success) throw cannotReach(found.url, 'answers something that is no manifest of an image')
  const { config } = image.data
  const blob = await session.get(`blobs/${config.digest}`, '*/*', signal)
  checkedDigest(blob, config.digest)
  const read = imageConfigSchema.safeParse(jsonOf(blob.answer.body.toString('utf8')))
  return { digest, platforms: read.success ? [{ ...read.data, digest }] : [] }
}

/** Attestations lie beside images, for the platform `unknown`. */
function distinct(platforms: readonly Platform[]): readonly Platform[] {
  const known = platforms.filter(({ os }) => os !== 'unknown')
  return [...new Map(known.map((one) => [`${one.os}/${one.architecture}`, one])).values()]
}

/** The digest of what came; throws where the server or the reference says another. */
function checkedDigest({ url, answer }: Found, wanted: string | undefined): string {
  const digest = `sha256:${createHash('sha256').update(answer.body).digest('hex')}`
  const said = answer.headers['docker-content-digest']
  if (wanted !== undefined && wanted !== digest) throw cannotReach(url, `answers with content that has ${digest}`)
  if (typeof said === 'string' && said.startsWith('sha256:') && said !== digest) {
    throw cannotReach(url, `says that its answer has ${said}, but it has ${digest}`)
  }
  return digest
}
