// What os.image was found to name: what the hosts are told, who has it already, and for whom it was not made.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { AgentStatus } from '../../api/node-state.ts'
import { type ResolvedImage, signaturesAtMost } from '../../api/os-image.ts'
import type { Reason } from '../../api/reason.ts'
import type { OsWork } from '../../api/work.ts'
import { formatImageReference, parseImageReference } from './reference.ts'
import { readImageWish } from './tag-pattern.ts'

type Facts = AgentStatus['facts']
type Verify = NonNullable<OsWork['verify']>

/** Of this operation: another one looks for itself. */
export function resolvedFor({ status }: Pick<DirectUpdate, 'status'>, operationID: string): ResolvedImage | undefined {
  return status?.operationID === operationID ? status.osImage : undefined
}

/** Why this image can never be had. */
export function impossibleImage({ os, airGapped }: DirectUpdateSpec): Reason | undefined {
  if (os?.image === undefined) return undefined
  if (airGapped) return { code: 'ImageUnknown', message: 'a bundle holds no OS images; leave os.image out' }
  if (readImageWish(os.image)) return undefined
  const message = `"${os.image}" is no image: write registry/name:tag, registry/name@sha256:…, or a tag with * such as registry/name:1.*`
  return { code: 'ImageUnknown', message }
}

/** By digest alone: a tag that moves after it was looked up changes nothing. */
export function pinnedSpec(spec: DirectUpdateSpec, image: ResolvedImage | undefined): DirectUpdateSpec {
  const name = image && parseImageReference(image.reference)?.name
  if (!spec.os || !image || name === undefined) return spec
  const verify = spec.os.verify && withFound(spec.os.verify, image.signatures)
  const pinned = formatImageReference({ name, digest: image.digest })
  return { ...spec, os: { ...spec.os, image: pinned, ...(verify && { verify }) } }
}

function withFound(verify: Verify, found: readonly string[] = []): Verify {
  const signatures = [...new Set([...(verify.signatures ?? []), ...found])].slice(0, signaturesAtMost)
  return signatures.length === 0 ? verify : { ...verify, signatures }
}

/** Whether the host has booted it. `wanted` is what the order names, for a host that nobody looked it up for. */
export function hasBooted(facts: Facts | undefined, wanted: string, image: ResolvedImage | undefined): boolean {
  const booted = facts?.osImage?.digest
  if (!facts || booted === undefined) return false
  if (!image) return parseImageReference(wanted)?.digest === booted
  return booted === image.digest || booted === instanceFor(image, facts.architecture)
}

export function instanceFor({ instances }: ResolvedImage, architecture: string): string | undefined {
  return instances.find((one) => one.architecture === architecture)?.digest
}
