// What the host's image tool shows, and what was noted when the order was staged.

import { type ImagePlan, imagePlanSchema } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import {
  bootcStatus,
  type Deployment,
  deploymentRoot,
  type ImageStatus,
  type OstreeOrigin,
  ostreeEntries,
  ostreeStatus,
  rpmOstreeStatus,
} from '../../../core/image/status.ts'
import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { containerProbe, manifestDigestCommand, statusCommands } from './image-commands.ts'

const statusTimeoutMs = 2 * 60_000
const statusBytes = 8 * 1024 * 1024
const planNote = 'os-image'

export const noTool =
  'this host does not run from an OS image, or has none of rpm-ostree, bootc and ostree with its container command'

/** Undefined where the host has none of the tools. rpm-ostree goes first: it knows layered packages, and can fetch ahead. */
export async function findImageStatus(host: Host, signal: AbortSignal): Promise<ImageStatus | undefined> {
  // The tools may be installed on a host that does not run from an image.
  if ((await host.files.look('/run/ostree-booted')).kind === 'none') return undefined
  const rpmOstree = await ask(host, 'rpm-ostree', signal)
  if (rpmOstree !== undefined) return rpmOstreeStatus(rpmOstree)
  const bootc = await ask(host, 'bootc', signal)
  if (bootc !== undefined) return bootcStatus(bootc)
  const isContainerised = (await host.run({ argv: containerProbe }, signal)).exitCode === 0
  return isContainerised ? await plainStatus(host, signal) : undefined
}

async function plainStatus(host: Host, signal: AbortSignal): Promise<ImageStatus> {
  const entries = ostreeEntries((await ask(host, 'ostree', signal)) ?? '')
  const origins = new Map<string, OstreeOrigin>()
  for (const { stateroot, checksum, serial } of entries) {
    const { stdout } = await host.run({ argv: manifestDigestCommand(checksum) }, signal)
    const origin = await host.files.read(`${deploymentRoot({ stateroot, checksum, serial })}.origin`)
    origins.set(checksum, { manifestDigest: stdout, origin: origin ?? '' })
  }
  return ostreeStatus(entries, origins)
}

export async function imageStatus(host: Host, signal: AbortSignal): Promise<ImageStatus> {
  const status = await findImageStatus(host, signal)
  if (!status) throw new SlipwayError('ImageToolMissing', noTool)
  return status
}

async function ask(host: Host, engine: ImageStatus['engine'], signal: AbortSignal): Promise<string | undefined> {
  const command = { argv: statusCommands[engine], timeoutMs: statusTimeoutMs, outputBytes: statusBytes }
  const { exitCode, stdout, stderr } = await host.run(command, signal)
  if (exitCode === 127) return undefined
  if (exitCode === 0) return stdout
  throw new SlipwayError('ImageToolFailed', `${engine} status ended with ${exitCode}: ${lastLines(stderr)}`)
}

export function findPlan({ notes }: Pick<StepContext, 'notes'>): Promise<ImagePlan | undefined> {
  return notes.read(planNote, imagePlanSchema)
}

export async function planOf(context: Pick<StepContext, 'notes' | 'order'>): Promise<ImagePlan> {
  const plan = await findPlan(context)
  if (plan) return plan
  throw new SlipwayError('JournalCorrupt', `order ${context.order.id} was staged, but its image is not noted`)
}

export async function notePlan({ notes }: Pick<StepContext, 'notes'>, plan: ImagePlan): Promise<void> {
  await notes.write(planNote, plan)
}

export function isWanted({ instance }: ImagePlan, deployment: Deployment | undefined): boolean {
  return deployment?.digest === instance
}

/** The host had the image before the order began: there is nothing to do, and nothing to take back. */
export function hadItBefore(plan: ImagePlan): boolean {
  return plan.before.digest === plan.instance
}

export function nameOf({ image, digest, version, checksum }: Deployment): string {
  const what = digest ?? checksum
  return `${image ?? 'a deployment without image'}${version === undefined ? '' : ` ${version}`} (${what.slice(0, 19)})`
}

export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n').slice(-800)
}
