// What cosign writes when it signs an image with a key pair, form by form: the old claim, and the bundle of version 3.

import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'

export interface CosignKey {
  /** PEM, as `cosign.pub` holds it. */
  readonly publicKey: string
  readonly privateKey: KeyObject
  /** Null: over the content itself. */
  readonly hash: string | null
}

export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json'
export const statementType = 'application/vnd.in-toto+json'
export const signPredicate = 'https://sigstore.dev/cosign/sign/v1'
export const emptyConfig = '{}'
export const emptyConfigType = 'application/vnd.oci.empty.v1+json'
const manifestType = 'application/vnd.oci.image.manifest.v1+json'

const kinds = {
  'P-256': () => ({ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }), hash: 'sha256' }),
  'P-384': () => ({ ...generateKeyPairSync('ec', { namedCurve: 'P-384' }), hash: 'sha384' }),
  'P-521': () => ({ ...generateKeyPairSync('ec', { namedCurve: 'P-521' }), hash: 'sha512' }),
  RSA: () => ({ ...generateKeyPairSync('rsa', { modulusLength: 2048 }), hash: 'sha256' }),
  Ed25519: () => ({ ...generateKeyPairSync('ed25519'), hash: null }),
}
export type CosignKeyKind = keyof typeof kinds
export const cosignKeyKinds = Object.keys(kinds) as readonly CosignKeyKind[]

export function makeCosignKey(kind: CosignKeyKind = 'P-256'): CosignKey {
  const { publicKey, privateKey, hash } = kinds[kind]()
  return { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(), privateKey, hash }
}

export function verifiesWith(key: CosignKey): (signed: string | Uint8Array, signature: string) => boolean {
  return (signed, signature) => verify(key.hash, Buffer.from(signed), key.publicKey, Buffer.from(signature, 'base64'))
}

export function digestOfText(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

export interface Claim {
  readonly text: string
  readonly signature: string
}

/** Simple signing. Its signature lies in an annotation of the layer; cosign 2 hashes with SHA-256 whatever the curve. */
export function cosignClaim(key: CosignKey, digest: string, name = 'registry.example/os'): Claim {
  const text = JSON.stringify({
    critical: {
      identity: { 'docker-reference': name },
      image: { 'docker-manifest-digest': digest },
      type: 'cosign container image signature',
    },
    optional: null,
  })
  return { text, signature: sign(key.hash && 'sha256', Buffer.from(text), key.privateKey).toString('base64') }
}

export function cosignStatement(digest: string, part: object = {}): string {
  const [algorithm = '', hex = ''] = digest.split(':')
  return JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: { [algorithm]: hex }, annotations: {} }],
    predicateType: signPredicate,
    predicate: {},
    ...part,
  })
}

/** PAE, as the specification of DSSE has it. */
export function dsseSigned(type: string, payload: string): Buffer {
  const [typeBytes, payloadBytes] = [Buffer.byteLength(type), Buffer.byteLength(payload)]
  return Buffer.from(`DSSEv1 ${typeBytes} ${type} ${payloadBytes} ${payload}`)
}

/** As the key signs it; a part takes the place of what cosign writes. */
export function cosignBundle(
  key: CosignKey,
  payload: string,
  { type = statementType, envelope = {}, bundle = {} }: BundleParts = {},
): string {
  const signature = sign(key.hash, dsseSigned(type, payload), key.privateKey).toString('base64')
  const hint = createHash('sha256').update(publicBytes(key)).digest('base64')
  return JSON.stringify({
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint }, tlogEntries: [] },
    dsseEnvelope: {
      payload: Buffer.from(payload).toString('base64'),
      payloadType: type,
      signatures: [{ sig: signature }],
      ...envelope,
    },
    ...bundle,
  })
}

export interface BundleParts {
  readonly type?: string
  readonly envelope?: object
  readonly bundle?: object
}

function publicBytes({ publicKey }: CosignKey): Buffer {
  return Buffer.from(publicKey.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
}

/** The manifest that refers to the image and holds the bundle. */
export function bundleManifest(bundle: string, subject: string): string {
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: {
      mediaType: emptyConfigType,
      size: emptyConfig.length,
      digest: digestOfText(emptyConfig),
      artifactType: bundleType,
    },
    layers: [{ mediaType: bundleType, size: Buffer.byteLength(bundle), digest: digestOfText(bundle) }],
    annotations: {
      'dev.sigstore.bundle.content': 'dsse-envelope',
      'dev.sigstore.bundle.predicateType': signPredicate,
      'org.opencontainers.image.created': '2026-01-01T00:00:00Z',
    },
    subject: { mediaType: manifestType, size: 500, digest: subject },
    artifactType: bundleType,
  })
}

/** The index under the tag of the digest, where the registry keeps no list; cosign 3.0 wrote the type of the configuration. */
export function referrersIndex(
  manifests: readonly { readonly digest: string; readonly size: number; readonly artifactType?: string }[],
): string {
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: manifests.map((one) => ({ mediaType: manifestType, artifactType: emptyConfigType, ...one })),
  })
}
