// What a host's own tools check of an image before they take it: the prefix of the reference in a deployment's origin says it.
// https://docs.rs/ostree-ext/0.15.3/ostree_ext/container/enum.SignatureSource.html

import type { ImagePlan, ImageTrust } from '../../api/os-image.ts'
import type { Reason } from '../../api/reason.ts'

/** Undefined where the origin asks for nothing, or is not an image. */
export function trustOf(reference: string): ImageTrust | undefined {
  if (reference.startsWith('ostree-image-signed:')) return { by: 'Policy' }
  const [, remote] = /^ostree-remote-(?:registry|image):([^:]+):/.exec(reference) ?? []
  return remote === undefined ? undefined : { by: 'Remote', remote }
}

/** The reference by which ostree's engine fetches the image and checks it so; it becomes the origin. */
export function trustedReference(trust: ImageTrust | undefined, name: string): string {
  switch (trust?.by) {
    case 'Policy':
      return `ostree-image-signed:docker://${name}`
    case 'Remote':
      return `ostree-remote-registry:${trust.remote}:${name}`
    default:
      return `ostree-unverified-registry:${name}`
  }
}

export type TrustDecision =
  | { readonly kind: 'take'; readonly trust?: ImageTrust; readonly warning?: string }
  | { readonly kind: 'refuse'; readonly reason: Reason }

/**
 * No host loses what its origin asks for because an update leaves it out: the new origin asks for the same. Only a key in the update
 * takes its place, which is a proof as well. `bootc switch` knows the policy, and no ostree remote.
 */
export function decideTrust(
  engine: ImagePlan['engine'],
  origin: ImageTrust | undefined,
  hasKey: boolean,
): TrustDecision {
  if (origin === undefined) return { kind: 'take' }
  if (hasKey) {
    const warning = `os.verify.key was checked instead of ${wordsOf(origin)}, which this host’s origin asked for and does not ask for any more; name os.verify in later updates too`
    return { kind: 'take', warning }
  }
  if (engine !== 'bootc' || origin.by === 'Policy') return { kind: 'take', trust: origin }
  const message = `this host’s origin asks for ${wordsOf(origin)}, which bootc switch cannot keep: name os.verify.key, which then takes its place, or switch this host to --enforce-container-sigpolicy by hand`
  return { kind: 'refuse', reason: { code: 'ImageUntrusted', message } }
}

/** What the engine, ostree below it and skopeo say where a check did not hold; any other failure may pass. */
const refusals = [
  /specifies a default of .insecureAcceptAnything/,
  /Verifying ostree commit|Expected commitmeta object|Remote "[^"]*" not found/,
  /rejected by policy|a signature was required|source image rejected|signature verification failed/i,
  /signature for identity .* is not accepted/i,
]

/** What to do where the tool did not trust the image; undefined where that is not what it complains of. */
export function whyRefused(trust: ImageTrust | undefined, said: string): string | undefined {
  if (!refusals.some((words) => words.test(said))) return undefined
  return trust === undefined
    ? 'the host’s containers-policy.json does not take it: sign it as that asks, or change that file'
    : `this host’s origin asks for ${wordsOf(trust)}: sign the image so, or name os.verify.key, which then takes its place`
}

function wordsOf(trust: ImageTrust): string {
  return trust.by === 'Policy'
    ? 'a signature by the host’s containers-policy.json (ostree-image-signed)'
    : `a signature by the ostree remote ${trust.remote}`
}
