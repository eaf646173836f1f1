// OCI 1.1: signatures are manifests that refer to the image. A registry lists them, or an index does, under a tag made from the
// digest. Neither list is believed: it says where to look.

import { type Referrer, referrersSchema } from '../../api/image-signature.ts'
import { jsonOf } from '../json-text.ts'

/** What cosign calls a signed image in a bundle; attestations say something else of it. */
export const signPredicate = 'https://sigstore.dev/cosign/sign/v1'
export const bundleTypePrefix = 'application/vnd.dev.sigstore.bundle'

const predicateAnnotation = 'dev.sigstore.bundle.predicateType'
/** Of claims that refer to the image: cosign 2 with --registry-referrers-mode=oci-1-1. */
const claimsType = 'application/vnd.dev.cosign.artifact.sig.v1+json'
/** cosign before 3.1 names its bundles so in the index it writes: the type of their empty configuration. */
const emptyType = 'application/vnd.oci.empty.v1+json'

/** Where the index of those that refer to it lies, in a registry that keeps no list of its own. */
export function referrersTag(digest: string): string {
  return digest.replace(':', '-')
}

/** Undefined for what is no list of them. */
export function readReferrers(text: string): readonly Referrer[] | undefined {
  const read = referrersSchema.safeParse(jsonOf(text))
  return read.success ? (read.data.manifests ?? []) : undefined
}

/** The digests of those that may hold a signature, each once. */
export function signatureReferrers(referrers: readonly Referrer[]): readonly string[] {
  return [...new Set(referrers.filter(maySign).map(({ digest }) => digest))]
}

function maySign({ digest, artifactType, annotations }: Referrer): boolean {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) return false
  const predicate = annotations?.[predicateAnnotation]
  if (predicate !== undefined && predicate !== signPredicate) return false
  return (
    artifactType == null ||
    artifactType === claimsType ||
    artifactType === emptyType ||
    artifactType.startsWith(bundleTypePrefix)
  )
}
