// While the node still works: the tag becomes a digest, the signature is checked, the image is fetched. Nothing of it changes what
// the next boot starts.

import { type ImagePlan, imageFetchedSchema } from '../../../api/os-image.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { parseDuration } from '../../../core/duration.ts'
import { bytesToFetch, readManifest } from '../../../core/image/manifest.ts'
import { type ImageStatus, isSameDeployment } from '../../../core/image/status.ts'
import { decideTrust, whyRefused } from '../../../core/image/trust.ts'
import { equalJson } from '../../../core/merge-patch.ts'
import type { Host } from '../../../ports/host.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import type { StepContext } from '../driver.ts'
import { longWork } from '../long-work.ts'
import { checkSignature } from './check-signature.ts'
import { checkCommit, isGpgKey, whyNoCommit } from './commit-signature.ts'
import { containerProbe, downloadCommand, ostreeRepository, pinnedName } from './image-commands.ts'
import { findImageStatus, findPlan, hadItBefore, imageStatus, lastLines, noTool, notePlan } from './image-state.ts'
import { kubeletUnit } from './kubelet-unit.ts'
import { type ResolvedImage, resolveImage } from './resolve-image.ts'

/** Kept free beside the image. */
const reserveBytes = 200 * 1024 * 1024
const fetchedNote = 'os-image-fetched'

/** Asked again before the first step, and after each boot until then: what is booted may be another's doing since. */
export async function prepareImage(
  context: StepContext,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const noted = await findPlan(context)
  const plan = noted ? await renewedPlan(context, noted, signal) : await makePlan(context, signatures, signal)
  if ('code' in plan) return plan
  const reason = (await isFetchedFor(context, plan, noted)) ? undefined : await fetchImage(context, plan, signal)
  if (reason) return reason
  // After the fetch: cut off before this, it is all decided anew.
  if (noted && plan !== noted) await notePlan(context, plan)
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
  const plan = await planFrom(context, { name, digest, instance, ...(unit !== undefined && { unit }) }, status)
  if ('code' in plan) return plan
  const reason = hadItBefore(plan) ? undefined : await checkSpace(host, status, image)
  if (reason) return reason
  await notePlan(context, plan)
  return plan
}

/** The same image from what is booted now: that is what the guard lets be, and what is gone back to. */
async function renewedPlan(context: StepContext, noted: ImagePlan, signal: AbortSignal): Promise<ImagePlan | Reason> {
  const status = await imageStatus(context.host, signal)
  if (isSameDeployment(noted.before, status.booted)) return noted
  const { trust: _, ...image } = noted
  return await planFrom(context, image, status)
}

async function planFrom(
  { order, warn }: StepContext,
  image: Pick<ImagePlan, 'name' | 'digest' | 'instance' | 'unit'>,
  { engine, booted }: ImageStatus,
): Promise<ImagePlan | Reason> {
  const plan: ImagePlan = { ...image, engine, before: booted }
  if (hadItBefore(plan)) return plan
  const decision = decideTrust(engine, booted.trust, order.work.os?.verify !== undefined)
  if (decision.kind === 'refuse') return decision.reason
  const { trust, warning } = decision
  if (warning !== undefined) await warn(warning)
  return { ...plan, ...(trust && { trust }) }
}

/** Fetched it was checked as its plan asked then. */
async function isFetchedFor({ notes }: StepContext, plan: ImagePlan, noted: ImagePlan | undefined): Promise<boolean> {
  if (hadItBefore(plan)) return true
  const fetched = await notes.read(fetchedNote, imageFetchedSchema)
  return fetched !== undefined && equalJson(plan.trust, noted?.trust)
}

async function fetchImage(context: StepContext, plan: ImagePlan, signal: AbortSignal): Promise<Reason | undefined> {
  const reason = (await download(context, plan, signal)) ?? (await checkFetched(context, plan, signal))
  if (!reason) await context.notes.write(fetchedNote, { digest: plan.digest })
  return reason
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
