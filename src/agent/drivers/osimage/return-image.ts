// Takes it back: the previous deployment boots again, or what was only staged is dropped, and the guard goes.

import { bootTriesSchema, type ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Deployment, ImageStatus } from '../../../core/image/status.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { hasGuardFiles, removeGuard } from './boot-guard.ts'
import { rebootAndWait } from './boot-image.ts'
import { guardScript } from './guard-script.ts'
import { idleStatus } from './idle-status.ts'
import { unstageCommands } from './image-commands.ts'
import { hadItBefore, imageStatus, isWanted, lastLines, nameOf, planOf } from './image-state.ts'

const triesNote = 'os-image-returns'
const triesAllowed = 3
const returnTimeoutMs = 10 * 60_000

export function returnImageStep(clock: Clock): ActStep {
  return {
    name: 'return-image',
    disruptive: true,
    attempts: 3,
    restartsKubelet: true,
    holds: async (context, signal) => (await whatIsLeft(context, signal)) === undefined,
    missing: whatIsLeft,
    act: async (context, signal) => {
      const plan = await planOf(context)
      const status = await imageStatus(context.host, signal)
      if (isWanted(plan, status.booted)) await leaveBooted(context, plan, clock, signal)
      await dropStaged(context, signal)
    },
  }
}

/**
 * Does not return: what comes after is the boot of the previous image. Some boot loaders come back with the new one all the same:
 * then it throws ImageNotBooted, and nobody boots for ever.
 */
export async function leaveBooted(
  context: StepContext,
  { engine }: ImagePlan,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  const { tries } = (await context.notes.read(triesNote, bootTriesSchema)) ?? { tries: 0 }
  if (tries >= triesAllowed) {
    const { booted } = await imageStatus(context.host, signal)
    const message = `the machine was booted ${tries} times to leave ${nameOf(booted)}, and came back with it`
    throw new SlipwayError('ImageNotBooted', message, { nextStep: 'look at the boot loader of the host' })
  }
  await context.notes.write(triesNote, { tries: tries + 1 })
  await run(context, ['/bin/sh', '-c', guardScript, 'slipway-boot-guard', 'return', engine], signal)
  return await rebootAndWait(context, clock, signal)
}

/** It is not booted: the next boot starts what it would have started before. The guard goes last, it stands in for what fails here. */
export async function dropStaged(context: StepContext, signal: AbortSignal): Promise<void> {
  const plan = await planOf(context)
  const status = await idleStatus(context, signal)
  if (isToStart(plan, status)) {
    await run(context, unstageCommands[status.engine], signal)
    const { next } = await imageStatus(context.host, signal)
    // Another of the same image may lie below it, or somebody has pinned it.
    if (isWanted(plan, next)) throw new SlipwayError('ImageToolFailed', `${stillStarts(next)}; ${lookAtPins}`)
  }
  await removeGuard(context.host, signal)
}

/**
 * Staged, or already what the boot menu starts: a shutdown makes that of it, and then a person or the boot loader may have picked
 * the old entry.
 */
function isToStart(plan: ImagePlan, { booted, staged, next }: ImageStatus): boolean {
  return isWanted(plan, staged) || (!isWanted(plan, booted) && isWanted(plan, next))
}

const lookAtPins = 'see with `ostree admin status` on the host whether somebody pinned it'

function stillStarts(next: Deployment): string {
  return `the next boot would still start ${nameOf(next)}`
}

async function whatIsLeft(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const plan = await planOf(context)
  if (hadItBefore(plan)) return undefined
  const { booted, staged, next }: ImageStatus = await imageStatus(context.host, signal)
  if (isWanted(plan, booted)) return `${nameOf(booted)} is still booted`
  if (isWanted(plan, staged)) return 'the new image is still staged'
  if (isWanted(plan, next)) return stillStarts(next)
  return (await hasGuardFiles(context.host)) ? 'the boot guard is still there' : undefined
}

async function run({ host }: StepContext, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const { exitCode, stdout, stderr } = await host.run({ argv, timeoutMs: returnTimeoutMs }, signal)
  if (exitCode === 0) return
  throw new SlipwayError('ImageToolFailed', `going back ended with ${exitCode}: ${lastLines(`${stdout}\n${stderr}`)}`)
}
