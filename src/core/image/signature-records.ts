// What lies beside an image and may be its signature, and what each of them proves.

import { type SignatureManifest, signatureManifestSchema } from '../../api/image-signature.ts'
import { jsonOf } from '../json-text.ts'
import { bundleTypePrefix, referrersTag } from './referrers.ts'
import { readBundle } from './signed-bundle.ts'
import { claimedDigest, claimSignature, signatureTag } from './signed-claim.ts'

export type RecordPlace =
  | { readonly form: 'claim'; readonly digest: string; readonly size: number; readonly signature: string }
  | { readonly form: 'bundle'; readonly digest: string; readonly size: number }

export type SignatureRecord =
  | { readonly form: 'claim'; readonly where: string; readonly text: string; readonly signature: string }
  | { readonly form: 'bundle'; readonly where: string; readonly text: string }
  | { readonly form: 'unread'; readonly where: string; readonly why: string }

/** Foreign: it is nobody's signature of an image, and no reason to distrust one. */
export type Verdict =
  | { readonly kind: 'holds' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'faulty'; readonly why: string }

/** `signed` is text or bytes, the signature base64. */
export type VerifyByKey = (signed: string | Uint8Array, signature: string) => boolean

/** A claim is some hundred bytes, a bundle with proofs of a log some thousand. */
const claimBytes = 64 * 1024
const bundleBytes = 256 * 1024
const manifestBytes = 4 * 1024 * 1024
const layersAtMost = 64
const faultsAtMost = 4

export function readSignatureManifest(text: string): SignatureManifest | undefined {
  const read = signatureManifestSchema.safeParse(jsonOf(text))
  return read.success ? read.data : undefined
}

export function recordPlaces({ layers }: SignatureManifest): readonly RecordPlace[] {
  return layers.flatMap((layer): readonly RecordPlace[] => {
    const { digest, size, mediaType } = layer
    const signature = claimSignature(layer)
    if (signature !== undefined) return [{ form: 'claim', digest, size, signature }]
    return mediaType?.startsWith(bundleTypePrefix) ? [{ form: 'bundle', digest, size }] : []
  })
}

/** Why the content of a manifest is not fetched: all of it comes at once. */
export function tooMuch({ layers }: SignatureManifest, places: readonly RecordPlace[]): string | undefined {
  if (layers.length > layersAtMost) return `has ${layers.length} parts, more than ${layersAtMost}`
  const large = places.find((place) => place.size > sizeLimit(place))
  if (large) return tooLarge(large, large.size)
  const bytes = layers.reduce((sum, { size }) => sum + size, 0)
  return bytes > manifestBytes
    ? `has ${bytes} bytes with all that lies beside it, more than ${manifestBytes}`
    : undefined
}

export function sizeLimit({ form }: RecordPlace): number {
  return form === 'claim' ? claimBytes : bundleBytes
}

export function tooLarge(place: RecordPlace, bytes: number): string {
  return `has ${bytes} bytes, more than the ${sizeLimit(place)} that a signature may have`
}

/** `digests`: of the image as it was pinned, and of the one for this host. */
export function judgeRecord(record: SignatureRecord, digests: readonly string[], verify: VerifyByKey): Verdict {
  switch (record.form) {
    case 'unread':
      return faulty(record.why)
    case 'claim': {
      const named = claimedDigest(record.text)
      if (named === undefined) return faulty('is no claim of cosign')
      return judged(named, digests, verify(record.text, record.signature), otherKey)
    }
    case 'bundle': {
      const read = readBundle(record.text)
      if (read.kind === 'foreign') return read
      if (read.kind === 'unreadable') return faulty(read.why)
      const why = read.withCertificate ? `${otherKey}: it was made with a certificate` : otherKey
      return judged(read.digest, digests, verify(read.signed, read.signature), why)
    }
  }
}

const otherKey = 'is not by os.verify.key, or was altered'

/** A genuine signature of another image proves nothing. */
function judged(named: string, digests: readonly string[], isByKey: boolean, notByKey: string): Verdict {
  if (!isByKey) return faulty(notByKey)
  return digests.includes(named) ? { kind: 'holds' } : faulty(`speaks of another image, ${named}`)
}

function faulty(why: string): Verdict {
  return { kind: 'faulty', why }
}

/** For a person: what was looked for, and what was found. */
export function distrust(
  image: { readonly name: string; readonly digest: string },
  faults: readonly { readonly where: string; readonly why: string }[],
): string {
  const { name, digest } = image
  const tags = `under the tags ${signatureTag(digest)} and ${referrersTag(digest)}`
  if (faults.length === 0) {
    return `${name}@${digest} is not signed: no signature lies ${tags}, and the order names none that the registry lists`
  }
  const said = faults.slice(0, faultsAtMost).map(({ where, why }) => `${where} ${why}`)
  const more = faults.length > faultsAtMost ? [`${faults.length - faultsAtMost} more do not hold either`] : []
  return `${name}@${digest} has no signature by os.verify.key that holds: ${[...said, ...more].join('; ')}`
}
