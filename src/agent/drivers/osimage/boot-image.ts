// Boots into the staged image. The proof is a new boot and the digest of what is booted, never that a command ended well.

import { bootTriesSchema } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { sleep } from '../../../kube/sleep.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { guardReturned } from './boot-guard.ts'
import { imageStatus, isWanted, nameOf, planOf } from './image-state.ts'
import { ensureStaged } from './stage-image.ts'

const triesNote = 'os-image-boots'
/** The power may fail before the machine is down, and then nothing is staged any more; more often it is no accident. */
const triesAllowed = 3
const rebootWaitMs = 10 * 60_000

export function bootImageStep(clock: Clock): ActStep {
  return {
    name: 'boot-image',
    disruptive: true,
    attempts: 3,
    restartsKubelet: true,
    holds: async (context, signal) => (await whyNotBooted(context, signal)) === undefined,
    missing: whyNotBooted,
    act: async (context, signal) => {
      const plan = await planOf(context)
      await failIfReturned(context)
      const { tries } = (await context.notes.read(triesNote, bootTriesSchema)) ?? { tries: 0 }
      if (tries >= triesAllowed) {
        const { booted } = await imageStatus(context.host, signal)
        const message = `the machine was booted ${tries} times and came back with ${nameOf(booted)}; is /boot full?`
        throw new SlipwayError('ImageNotBooted', message)
      }
      await ensureStaged(context, plan, signal)
      await context.notes.write(triesNote, { tries: tries + 1 })
      await rebootAndWait(context, clock, signal)
    },
  }
}

/** Does not return: what comes after is another boot. */
export async function rebootAndWait({ host }: StepContext, clock: Clock, signal: AbortSignal): Promise<never> {
  await host.reboot(signal)
  await sleep(clock, rebootWaitMs, signal)
  throw new SlipwayError(
    'RebootMissing',
    `the machine was asked to reboot, and still runs ${rebootWaitMs / 60_000} minutes later`,
  )
}

export async function failIfReturned(context: StepContext): Promise<void> {
  if (!(await guardReturned(context))) return
  const { name, digest } = await planOf(context)
  const message = `${name}@${digest} was booted but not confirmed in time; the boot guard went back to the previous image`
  throw new SlipwayError('ImageRolledBack', message)
}

async function whyNotBooted(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const plan = await planOf(context)
  const { booted } = await imageStatus(context.host, signal)
  if (!isWanted(plan, booted)) return `${nameOf(booted)} is booted`
  return context.begunInBoot === (await context.host.bootId()) ? 'the machine was not booted since' : undefined
}
