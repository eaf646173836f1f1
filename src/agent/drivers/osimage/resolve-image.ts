// Asks the registry through the host's skopeo, which both image tools need anyway: so mirrors, credentials and certificates are
// those the host pulls with.

import { createHash } from 'node:crypto'
import type { ImageManifest } from '../../../api/os-image.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { readManifest } from '../../../core/image/manifest.ts'
import { formatImageReference, parseImageReference } from '../../../core/image/reference.ts'
import type { Host } from '../../../ports/host.ts'
import { lastLines } from './image-state.ts'

export interface ResolvedImage {
  readonly name: string
  readonly digest: string
  readonly instance: string
  readonly manifest: ImageManifest
}

const askTimeoutMs = 2 * 60_000
const manifestBytes = 4 * 1024 * 1024

/** What the registry says when there is no such name, tag or digest; everything else may pass. */
const unknownImage = /manifest unknown|name unknown|repository .*not found|reading manifest .*not found/i

export async function resolveImage(host: Host, text: string, signal: AbortSignal): Promise<ResolvedImage | Reason> {
  const reference = parseImageReference(text)
  if (!reference) return unknown(`"${text}" is no image: write registry/name:tag or registry/name@sha256:…`)
  const { name } = reference
  const found = await fetchManifest(host, formatImageReference(reference), signal)
  if (found === undefined) return unknown(`the registry has no image ${formatImageReference(reference)}`)
  const digest = digestOf(found)
  if (reference.digest !== undefined && reference.digest !== digest) {
    return {
      code: 'ContentMismatch',
      message: `the registry answered ${digest} for ${formatImageReference(reference)}`,
    }
  }
  const { architecture } = await host.facts(signal)
  const top = readManifest(found, architecture)
  if (top.kind === 'image') return { name, digest, instance: digest, manifest: top.manifest }
  const instance = top.kind === 'index' ? top.instance : undefined
  if (instance === undefined) return unknown(`${text} has no image for ${architecture}`)
  const text2 = await fetchManifest(host, formatImageReference({ name, digest: instance }), signal)
  const own = text2 === undefined ? undefined : readManifest(text2, architecture)
  if (own?.kind !== 'image') return unknown(`${text} names ${instance} for ${architecture}, which is no image`)
  return { name, digest, instance, manifest: own.manifest }
}

/** The manifest as the registry keeps it, byte for byte; undefined where there is none. */
export async function fetchManifest(host: Host, reference: string, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['skopeo', 'inspect', '--raw', `docker://${reference}`]
  const answer = await host.run({ argv, timeoutMs: askTimeoutMs, outputBytes: manifestBytes }, signal)
  if (answer.exitCode === 0) return answer.stdout
  if (answer.exitCode === 127)
    throw new SlipwayError('ImageToolMissing', 'this host has no skopeo to ask the registry with')
  if (unknownImage.test(answer.stderr)) return undefined
  throw new SlipwayError('StagingFailed', `the registry did not answer for ${reference}: ${lastLines(answer.stderr)}`)
}

function digestOf(manifest: string): string {
  return `sha256:${createHash('sha256').update(manifest).digest('hex')}`
}

function unknown(message: string): Reason {
  return { code: 'ImageUnknown', message }
}
