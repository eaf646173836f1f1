// What os.image names now: asked once for an operation, before any node is touched.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import { type ResolvedImage, signaturesAtMost } from '../../api/os-image.ts'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { formatImageReference, parseImageReference } from '../../core/image/reference.ts'
import { signatureReferrers } from '../../core/image/referrers.ts'
import { newestTag, readImageWish } from '../../core/image/tag-pattern.ts'
import type { RegistryDesk } from './registry-desk.ts'

export type Resolution =
  | { readonly kind: 'found'; readonly image: ResolvedImage }
  /** `lasting`: asking again would be answered the same. */
  | { readonly kind: 'refused'; readonly lasting: boolean; readonly reason: Reason; readonly afterMs?: number }

const namesAtMost = 5

/** Undefined: each host finds it out for itself. */
export async function resolveImage(
  desk: RegistryDesk | undefined,
  { os }: DirectUpdateSpec,
  now: () => Date,
  signal: AbortSignal,
): Promise<Resolution | undefined> {
  const wish = os?.image === undefined || os.resolve === 'Host' ? undefined : readImageWish(os.image)
  if (os?.image === undefined || !wish) return undefined
  if (!desk) {
    if (wish.kind === 'exact') return undefined
    return refused(false, 'RegistryUnreachable', 'this operator has no way to ask a registry which tags there are')
  }
  try {
    const reference =
      wish.kind === 'exact' ? formatImageReference(wish.reference) : await chosen(desk, wish.name, wish.pattern, signal)
    if (typeof reference !== 'string') return reference
    const { digest, platforms } = await desk.look(reference, signal)
    const instances = platforms
      .filter((one) => one.os === 'linux')
      .map((one) => ({ architecture: one.architecture.slice(0, 64), digest: one.digest }))
      .slice(0, 32)
    const image = { image: os.image, reference, digest, resolvedAt: now().toISOString(), instances }
    return { kind: 'found', image: os.verify ? await withSignatures(desk, image, signal) : image }
  } catch (error) {
    if (!(error instanceof SlipwayError)) throw error
    return refusalOf(error)
  }
}

/** Hosts cannot ask for them; whether they hold is for the hosts to judge. */
async function withSignatures(desk: RegistryDesk, image: ResolvedImage, signal: AbortSignal): Promise<ResolvedImage> {
  const name = parseImageReference(image.reference)?.name ?? ''
  const digests = new Set([image.digest, ...image.instances.map(({ digest }) => digest)])
  const signatures = signatureReferrers(await desk.referrers(name, [...digests], signal)).slice(0, signaturesAtMost)
  return { ...image, ...(signatures.length > 0 && { signatures: [...signatures] }) }
}

async function chosen(
  desk: RegistryDesk,
  name: string,
  pattern: string,
  signal: AbortSignal,
): Promise<string | Resolution> {
  const tags = await desk.tags(name, signal)
  const tag = newestTag(tags, pattern)
  if (tag !== undefined) return `${name}:${tag}`
  const some = tags.slice(-namesAtMost).join(', ')
  const has = tags.length === 0 ? 'it has none' : `it has ${tags.length}, such as ${some}`
  const message = `no tag of ${name} matches ${pattern}: ${has}. Pre-releases count only where the pattern holds a -`
  return refused(true, 'ImageUnknown', message)
}

function refusalOf(error: SlipwayError): Resolution {
  const next = error.nextStep === undefined ? '' : `; ${error.nextStep}`
  switch (error.code) {
    case 'CannotReach': {
      const message = `${error.message}${next}, or let each host ask: os.resolve Host`
      const { retryAfterMs } = error
      const again = refused(false, 'RegistryUnreachable', message)
      return { ...again, ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }) }
    }
    case 'RegistryRefused':
      return refused(true, 'RegistryRefused', `${error.message}${next}`)
    case 'RegistrySecretMissing':
      return refused(false, 'RegistrySecretMissing', `${error.message}${next}`)
    default:
      throw error
  }
}

function refused(
  lasting: boolean,
  code: Reason['code'],
  message: string,
): Extract<Resolution, { readonly kind: 'refused' }> {
  return { kind: 'refused', lasting, reason: { code, message } }
}
