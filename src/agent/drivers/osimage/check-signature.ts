// Where os.verify.key is set the image must be signed with it, as cosign signs with a key pair; unsigned is refused. Checked
// here, before anything is fetched.

import type { Reason } from '../../../api/reason.ts'
import type { OsWork } from '../../../api/work.ts'
import { distrust, judgeRecord } from '../../../core/image/signature-records.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import type { StepContext } from '../driver.ts'
import { signatureRecords } from './fetch-signatures.ts'
import type { ResolvedImage } from './resolve-image.ts'

/** The reason it is not trusted; undefined when a signature of this key speaks of this image. */
export async function checkSignature(
  context: Pick<StepContext, 'host' | 'stagingFolder'>,
  image: ResolvedImage,
  { key, signatures: named = [] }: NonNullable<OsWork['verify']>,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (!signatures.isPublicKey(key)) return untrusted('os.verify.key is no PEM public key, and no armoured GPG key')
  // A list of images is signed as a whole; some signers sign each of them as well, or only that.
  const digests = [...new Set([image.digest, image.instance])]
  const faults: { readonly where: string; readonly why: string }[] = []
  for await (const record of signatureRecords(context, { name: image.name, digests, named }, signal)) {
    const verdict = judgeRecord(record, digests, (signed, signature) => signatures.verify(key, signed, signature))
    if (verdict.kind === 'holds') return undefined
    if (verdict.kind === 'faulty') faults.push({ where: record.where, why: verdict.why })
  }
  return untrusted(distrust(image, faults))
}

function untrusted(message: string): Reason {
  return { code: 'ImageUntrusted', message }
}
