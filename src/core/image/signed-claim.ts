import { type ImageManifest, signedClaimSchema } from '../../api/os-image.ts'
import { jsonOf } from '../json-text.ts'

export interface SignedClaim {
  /** Of the layer that holds the claim. */
  readonly digest: string
  /** Base64. */
  readonly signature: string
}

const signatureAnnotation = 'dev.cosignproject.cosign/signature'

/** Where cosign lays the signatures of an image: a tag made from its digest. */
export function signatureTag(digest: string): string {
  return `${digest.replace(':', '-')}.sig`
}

export function claimsOf({ layers }: ImageManifest): readonly SignedClaim[] {
  return layers.flatMap(({ digest, annotations }) => {
    const signature = annotations?.[signatureAnnotation]
    return signature === undefined ? [] : [{ digest, signature }]
  })
}

/** Whether the signed text speaks of this image: a genuine signature of another one proves nothing. */
export function claimNames(claim: string, digest: string): boolean {
  const parsed = signedClaimSchema.safeParse(jsonOf(claim))
  return parsed.success && parsed.data.critical.image['docker-manifest-digest'] === digest
}
