import type { SignatureManifest } from '../../api/image-signature.ts'
import { signedClaimSchema } from '../../api/os-image.ts'
import { jsonOf } from '../json-text.ts'

/** Where cosign lays the claims of an image: a tag made from its digest. */
export function signatureTag(digest: string): string {
  return `${digest.replace(':', '-')}.sig`
}

const signatureAnnotation = 'dev.cosignproject.cosign/signature'

/** Base64; undefined where the layer holds no claim. */
export function claimSignature({ annotations }: SignatureManifest['layers'][number]): string | undefined {
  return annotations?.[signatureAnnotation]
}

/** The image the signed text speaks of; undefined for what is no claim of cosign's. */
export function claimedDigest(claim: string): string | undefined {
  const parsed = signedClaimSchema.safeParse(jsonOf(claim))
  return parsed.success ? parsed.data.critical.image['docker-manifest-digest'] : undefined
}
