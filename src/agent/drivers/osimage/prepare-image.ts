// While the node still works: the tag becomes a digest, the signature is checked, the image is fetched. Nothing of it changes what
// the next boot starts.

import { type ImagePlan, imageFetchedSchema } from '../../../api/os-image.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { parseDuration } from '../../../core/duration.ts'
import { bytesToFetch, readManifest } from '../../../core/image/manifest.ts'
import type { ImageStatus } from '../../../core/image/status.ts'
import { decideTrust, whyRefused } from '../../../core/image/trust.ts'
import type { Host } from '../../../ports/host.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import type { StepContext } from '../driver.ts'
import { longWork } from '../long-work.ts'
import { checkSignature } from './check-signature.ts'
import { checkCommit, isGpgKey, whyNoCommit } from './commit-signature.ts'
import { containerProbe, downloadCommand, ostreeRepository, pinnedName } from './image-commands.ts'
import { findImageStatus, findPlan, hadItBefore, lastLines, noTool, notePlan } from './image-state.ts'
import { kubeletUnit } from './kubelet-unit.ts'
import { type ResolvedImage, resolveImage } from './resolve-image.ts'

/** Kept free beside the image. */
const reserveBytes = 200 * 1024 * 1024
const fetchedNote = 'os-image-fetched'

export async function prepareImage(
  context: StepContext,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const plan = (await findPlan(context)) ?? (await makePlan(context, signatures, signal))
  if ('code' in plan) return plan
  if (hadItBefore(plan) || (await context.notes.read(fetchedNote, imageFetchedSchema))) return undefined
  const reason = (await download(context, plan, signal)) ?? (await checkFetched(context, plan, signal))
  if (reason) return reason
  await context.notes.write(fetchedNote, { digest: plan.digest })
  return undefined
}

async function makePlan(
  context: StepContext,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<ImagePlan | Reason> {
  const { host, order } = context
  const { image: text = '', verify } = order.work.os ?? {}
  if (order.work.bundle) return { code: 'ImageUnknown', message: 'a bundle holds no OS images; leave os.image out' }
  const status = await findImageStatus(host, signal)
  if (!status) return { code: 'ImageToolMissing', message: noTool }
  const image = await resolveImage(host, text, signal)
  if ('code' in image) return image
  const distrust =
    verify && isGpgKey(verify.key)
      ? await whyNoCommit(host, status.engine, image, signal)
      : verify && (await checkSignature(context, image, verify, signatures, signal))
  if (distrust) return distrust
  const { name, digest, instance } = image
  const unit = await kubeletUnit(host, signal)
  const plan: ImagePlan = {
    engine: status.engine,
    name,
    digest,
    instance,
    ...(unit !== undefined && { unit }),
    before: status.booted,
  }
  if (hadItBefore(plan)) return await noted(context, plan)
  const decision = decideTrust(status.engine, status.booted.trust, verify !== undefined)
  if (decision.kind === 'refuse') return decision.reason
  const { trust, warning } = decision
  const reason = await checkSpace(host, status, image)
  if (reason) return reason
  if (warning !== undefined) await context.warn(warning)
  return await noted(context, { ...plan, ...(trust && { trust }) })
}

async function noted(context: StepContext, plan: ImagePlan): Promise<ImagePlan> {
  await notePlan(context, plan)
  return plan
}

async function checkSpace(host: Host, status: ImageStatus, image: ResolvedImage): Promise<Reason | undefined> {
  const present = readManifest(status.bootedManifest ?? '', '')
  const needed = bytesToFetch(image.manifest, present.kind === 'image' ? present.manifest : undefined) + reserveBytes
  const free = await host.files.freeBytes(ostreeRepository)
  if (free >= needed) return undefined
  const message = `${pinnedName(image)} needs about ${megabytes(needed)} of free space in ${ostreeRepository}, there are ${megabytes(free)}`
  return { code: 'ImageTooLarge', message }
}

async function download(context: StepContext, plan: ImagePlan, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order } = context
  if (plan.engine === 'bootc' && (await host.run({ argv: containerProbe }, signal)).exitCode !== 0) {
    await context.warn(`bootc cannot fetch ahead on this host: ${pinnedName(plan)} is fetched after the drain`)
    return undefined
  }
  const pull = { name: 'fetch-image', argv: downloadCommand(plan), timeoutMs: parseDuration(order.timeout) }
  const { exitCode, output } = await longWork(context, pull, signal)
  if (exitCode === 0) return undefined
  const said = `${pinnedName(plan)} could not be fetched: ${lastLines(output)}`
  if (/no space left|min-free-space|disk quota/i.test(output)) return { code: 'ImageTooLarge', message: said }
  const distrust = whyRefused(plan.trust, output)
  if (distrust !== undefined) return { code: 'ImageUntrusted', message: `${said}; ${distrust}` }
  throw new SlipwayError('StagingFailed', said)
}

async function checkFetched(context: StepContext, plan: ImagePlan, signal: AbortSignal): Promise<Reason | undefined> {
  const key = context.order.work.os?.verify?.key
  return key !== undefined && isGpgKey(key) ? await checkCommit(context, plan, key, signal) : undefined
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`
}
