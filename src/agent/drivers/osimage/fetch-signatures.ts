// Fetches what may be signatures of an image, through the host's skopeo as everything else. It cannot ask a registry what refers
// to an image: the order names what the operator found so, and the tag of the older way is looked at here.

import { SlipwayError } from '../../../api/slipway-error.ts'
import { readReferrers, referrersTag, signatureReferrers } from '../../../core/image/referrers.ts'
import {
  type RecordPlace,
  readSignatureManifest,
  recordPlaces,
  type SignatureRecord,
  sizeLimit,
  tooLarge,
  tooMuch,
} from '../../../core/image/signature-records.ts'
import { signatureTag } from '../../../core/image/signed-claim.ts'
import type { Host } from '../../../ports/host.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import type { StepContext } from '../driver.ts'
import { lastLines } from './image-state.ts'
import { fetchManifest } from './resolve-image.ts'

export interface SignatureSearch {
  /** registry/repository */
  readonly name: string
  /** Of the image as it was pinned, and of the one for this host. */
  readonly digests: readonly string[]
  /** Manifests the order names. */
  readonly named: readonly string[]
}

type Place = Pick<StepContext, 'host' | 'stagingFolder'>

/** Each is two questions to the registry; whoever may push could add to them without end. */
const referrersAtMost = 64
const fetchTimeoutMs = 2 * 60_000

/** One after the other: whoever has found one that holds need not fetch the rest. */
export async function* signatureRecords(
  place: Place,
  search: SignatureSearch,
  signal: AbortSignal,
): AsyncGenerator<SignatureRecord> {
  const { name, digests, named } = search
  for (const digest of digests) yield* recordsAt(place, search, `${name}:${signatureTag(digest)}`, signal)
  for (const digest of named) yield* recordsAt(place, search, `${name}@${digest}`, signal)
  for (const digest of digests) {
    const tag = referrersTag(digest)
    const list = await fetchManifest(place.host, `${name}:${tag}`, signal)
    if (list === undefined) continue
    const further = signatureReferrers(readReferrers(list) ?? []).filter((one) => !named.includes(one))
    for (const one of further.slice(0, referrersAtMost)) yield* recordsAt(place, search, `${name}@${one}`, signal)
    if (further.length > referrersAtMost) {
      const why = `lists ${further.length} that may be signatures, only ${referrersAtMost} of them were looked into`
      yield { form: 'unread', where: tag, why }
    }
  }
}

async function* recordsAt(
  { host, stagingFolder }: Place,
  { name, digests }: SignatureSearch,
  reference: string,
  signal: AbortSignal,
): AsyncGenerator<SignatureRecord> {
  const where = reference.slice(name.length + 1)
  const text = await fetchManifest(host, reference, signal)
  if (text === undefined) {
    // A tag need not be there; what a list has named was there.
    if (reference.includes('@')) yield { form: 'unread', where, why: 'is listed, but the registry does not have it' }
    return
  }
  const manifest = readSignatureManifest(text)
  if (!manifest) return yield { form: 'unread', where, why: 'is no manifest of signatures' }
  if (manifest.subject && !digests.includes(manifest.subject.digest)) return
  const places = recordPlaces(manifest)
  if (places.length === 0) return
  const why = tooMuch(manifest, places)
  if (why !== undefined) return yield { form: 'unread', where, why }
  const folder = `${stagingFolder}/signatures/${sha256(reference).slice(0, 16)}`
  await fetchInto(host, reference, folder, signal)
  for (const one of places) yield await readRecord(host, folder, one)
}

async function readRecord(host: Host, folder: string, place: RecordPlace): Promise<SignatureRecord> {
  const { digest, form } = place
  const hash = digest.slice('sha256:'.length)
  const where = digest.slice(0, 'sha256:'.length + 12)
  const look = await host.files.look(`${folder}/${hash}`)
  if (look.kind === 'file' && look.bytes > sizeLimit(place)) {
    return { form: 'unread', where, why: tooLarge(place, look.bytes) }
  }
  const text = (await host.files.read(`${folder}/${hash}`, sizeLimit(place))) ?? ''
  if (sha256(text) !== hash) return { form: 'unread', where, why: 'is not what its digest says' }
  return form === 'claim' ? { form, where, text, signature: place.signature } : { form, where, text }
}

async function fetchInto(host: Host, reference: string, folder: string, signal: AbortSignal): Promise<void> {
  const parts = [
    ['mkdir', '-p', folder],
    ['skopeo', '--insecure-policy', 'copy', '--quiet', `docker://${reference}`, `dir:${folder}`],
  ]
  for (const argv of parts) {
    const { exitCode, stderr } = await host.run({ argv, timeoutMs: fetchTimeoutMs }, signal)
    if (exitCode !== 0) throw new SlipwayError('StagingFailed', `cannot fetch ${reference}: ${lastLines(stderr)}`)
  }
}
