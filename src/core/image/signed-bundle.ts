// A Sigstore bundle, as cosign 3 signs an image: a DSSE envelope around an in-toto statement that names its digest. The key is
// the one we were given; certificates, logs and times in the bundle are not looked at.

import { signStatementSchema, sigstoreBundleSchema, statementHeadSchema } from '../../api/image-signature.ts'
import { jsonOf } from '../json-text.ts'
import { type ShapeError, shapeFaults } from '../shape-faults.ts'
import { signPredicate } from './referrers.ts'

export type ReadBundle =
  | {
      readonly kind: 'signature'
      /** What the signature is over. */
      readonly signed: Uint8Array
      /** Base64. */
      readonly signature: string
      /** sha256:… of the image it speaks of. */
      readonly digest: string
      readonly withCertificate: boolean
    }
  /** An attestation: it says something of the image, but not that it is meant to be run. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unreadable'; readonly why: string }

const statementType = 'application/vnd.in-toto+json'

export function readBundle(text: string): ReadBundle {
  const bundle = sigstoreBundleSchema.safeParse(jsonOf(text))
  if (!bundle.success) return unreadable(`is no bundle: ${faultsOf(bundle.error)}`)
  const { dsseEnvelope: envelope, messageSignature, verificationMaterial } = bundle.data
  if (!envelope) return unreadable('holds no envelope: what it signs names no image')
  if (messageSignature) return unreadable('holds an envelope and a message signature: one of them is too much')
  const { payload, payloadType, signatures } = envelope
  if (payloadType !== statementType) return unreadable(`holds ${payloadType.slice(0, 64)} instead of ${statementType}`)
  const bytes = bytesOf(payload)
  const json = jsonOf(new TextDecoder().decode(bytes))
  const head = statementHeadSchema.safeParse(json)
  if (!head.success) return unreadable(`holds no in-toto statement: ${faultsOf(head.error)}`)
  if (head.data.predicateType !== signPredicate) return { kind: 'foreign' }
  const statement = signStatementSchema.safeParse(json)
  if (!statement.success) return unreadable(`holds a statement of another form: ${faultsOf(statement.error)}`)
  const [subject] = statement.data.subject
  const [signature] = signatures
  return {
    kind: 'signature',
    signed: preAuthEncoding(payloadType, bytes),
    signature: signature?.sig ?? '',
    digest: `sha256:${subject?.digest.sha256}`,
    withCertificate: Boolean(verificationMaterial.certificate),
  }
}

/** DSSE signs the type along with the content, each with its length in bytes: neither can be read as part of the other. */
export function preAuthEncoding(type: string, payload: Uint8Array): Uint8Array {
  const encoder = new TextEncoder()
  const typeBytes = encoder.encode(type).length
  const head = encoder.encode(`DSSEv1 ${typeBytes} ${type} ${payload.length} `)
  const all = new Uint8Array(head.length + payload.length)
  all.set(head)
  all.set(payload, head.length)
  return all
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function faultsOf({ issues }: ShapeError): string {
  return shapeFaults({ issues: issues.slice(0, 2) })
}

function unreadable(why: string): ReadBundle {
  return { kind: 'unreadable', why }
}
