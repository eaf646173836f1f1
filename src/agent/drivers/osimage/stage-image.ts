// Makes the fetched image what the next orderly reboot starts. Only after the drain: from here on any reboot would boot it.

import type { ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Deployment } from '../../../core/image/status.ts'
import type { ActStep, JobStep, StepContext } from '../driver.ts'
import { longWork } from '../long-work.ts'
import { isGuardSet, setGuard } from './boot-guard.ts'
import { noteStaging } from './idle-status.ts'
import { stageCommand } from './image-commands.ts'
import { hadItBefore, imageStatus, isWanted, lastLines, nameOf, planOf } from './image-state.ts'

const stageTimeoutMs = 60 * 60_000

export const setGuardStep: ActStep = {
  name: 'set-boot-guard',
  disruptive: false,
  attempts: 3,
  brief: true,
  holds: async (context) => hadItBefore(await planOf(context)) || (await isGuardSet(context)),
  act: async (context, signal) => setGuard(context, await planOf(context), signal),
  missing: async (context) => ((await isGuardSet(context)) ? undefined : 'the boot guard is not armed'),
}

/** The registry is asked for the manifest once more; so it is tried for some minutes. */
export const stageImageStep: JobStep = {
  name: 'stage-image',
  disruptive: false,
  attempts: 10,
  showsEffect: true,
  timeoutMs: stageTimeoutMs,
  argv: async (context) => {
    const plan = await planOf(context)
    await noteStaging(context)
    return stageCommand(plan)
  },
  holds: async (context, signal) => {
    const plan = await planOf(context)
    const { booted, staged } = await imageStatus(context.host, signal)
    return isWanted(plan, staged) || (isWanted(plan, booted) && !staged)
  },
  missing: async (context, signal) => {
    const plan = await planOf(context)
    const { next } = await imageStatus(context.host, signal)
    return isWanted(plan, next) ? undefined : `the next boot would start ${nameOf(next)}`
  },
}

/** The staged deployment of the wanted image: made where it is not there, as after a power loss, which it does not survive. */
export async function ensureStaged(context: StepContext, plan: ImagePlan, signal: AbortSignal): Promise<Deployment> {
  const found = (await imageStatus(context.host, signal)).staged
  if (found && isWanted(plan, found)) return found
  if (context.order.rollback !== 'Never' && !(await isGuardSet(context))) await setGuard(context, plan, signal)
  const work = { name: 'stage-image-again', argv: stageCommand(plan), timeoutMs: stageTimeoutMs }
  await noteStaging(context)
  const { exitCode, output } = await longWork(context, work, signal)
  const staged = (await imageStatus(context.host, signal)).staged
  if (staged && isWanted(plan, staged)) return staged
  throw new SlipwayError('ImageToolFailed', `staging the image ended with ${exitCode}: ${lastLines(output)}`)
}
