// OS images by rpm-ostree or bootc: fetched while the node works, staged after the drain, booted, confirmed; and back by itself where
// the new one does not come up.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import type { Driver, Picture, Staging, StepContext } from '../driver.ts'
import { stageControlPlaneImages } from '../kubeadm/stage-images.ts'
import { asksFor } from '../kubernetes-target.ts'
import { hasGuardFiles } from './boot-guard.ts'
import { bootImageStep } from './boot-image.ts'
import { confirmImageStep } from './confirm-image.ts'
import { fetchedProgram } from './fetched-program.ts'
import { checkImageProgramsStep, whyNotFetched } from './image-programs.ts'
import { findImageStatus } from './image-state.ts'
import { prepareImage } from './prepare-image.ts'
import { returnImageStep } from './return-image.ts'
import { settleImage } from './settle-image.ts'
import { setGuardStep, stageImageStep } from './stage-image.ts'

export interface ImageTools {
  readonly clock: Clock
  readonly signatures: ImageSignatures
}

export function osImageDriver({ clock, signatures }: ImageTools): Driver {
  return {
    name: 'osimage',
    undoneWith: 'Image',
    concerns: ({ work }) => work.os?.image !== undefined,
    inspect,
    stage: (staging, signal) => stage(staging, signatures, signal),
    steps: (order) => [
      ...(order.rollback === 'Never' ? [] : [setGuardStep]),
      stageImageStep,
      // Where kubeadm runs it has looked already: it must, before it starts the program of that image.
      ...(asksFor('kubeadm', order) ? [] : [checkImageProgramsStep]),
      bootImageStep(clock),
      confirmImageStep(clock),
    ],
    settle: (context, signal) => settleImage(context, clock, signal),
    undo: { possible: true, steps: () => [returnImageStep(clock)] },
  }
}

async function inspect({ host }: StepContext, signal: AbortSignal): Promise<Picture> {
  const status = await findImageStatus(host, signal)
  return {
    booted: status?.booted.digest ?? status?.booted.checksum,
    next: status?.next.digest ?? status?.next.checksum,
    guarded: await hasGuardFiles(host),
  }
}

async function stage(staging: Staging, signatures: ImageSignatures, signal: AbortSignal): Promise<Reason | undefined> {
  try {
    return (
      (await prepareImage(staging, signatures, signal)) ??
      (await whyNotFetched(staging, signal)) ??
      (await stageControlPlane(staging, signal))
    )
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    const { code, message } = error
    if (code === 'ImageToolMissing') return { code, message }
    // A tool that is busy, or a registry that is slow, is another time not.
    if (code === 'ImageToolFailed' || code === 'CommandTimedOut')
      throw new SlipwayError('StagingFailed', message, { cause: error })
    throw error
  }
}

/** What the kubeadm of the fetched image needs; where it was not fetched ahead kubeadm's own check pulls it after the drain. */
async function stageControlPlane(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { order } = staging
  if (order.role !== 'ControlPlane' || !asksFor('kubeadm', order)) return undefined
  const kubeadm = await fetchedProgram(staging, 'kubeadm', signal)
  return kubeadm === undefined ? undefined : await stageControlPlaneImages(staging, signal, kubeadm)
}
