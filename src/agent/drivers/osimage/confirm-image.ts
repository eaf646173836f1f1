// The new image is kept once its kubelet has stayed up for a while; then the guard is taken away.

import type { ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { sleep } from '../../../kube/sleep.ts'
import type { Clock } from '../../../ports/clock.ts'
import { Deadline } from '../../deadline.ts'
import { messageOf } from '../../step-verdict.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { disarm, removeGuard, trialSeconds } from './boot-guard.ts'
import { failIfReturned } from './boot-image.ts'
import { hadItBefore, imageStatus, isWanted, nameOf, planOf } from './image-state.ts'
import { type KubeletState, kubeletState } from './kubelet-unit.ts'

const stableMs = 30_000
const lookAgainMs = 2_000
const clearTries = 5
/** Shorter than the guard waits, so that the agent, where it runs, says what is wrong. */
const patienceMs = (trialSeconds / 2) * 1000

export function confirmImageStep(clock: Clock): ActStep {
  return {
    name: 'confirm-image',
    disruptive: false,
    attempts: 1,
    // The guard does not wait for the API either.
    settles: true,
    holds: async (context) => hadItBefore(await planOf(context)),
    act: async (context, signal) => {
      const plan = await planOf(context)
      const { booted } = await insist(clock, () => imageStatus(context.host, signal), signal)
      if (!isWanted(plan, booted)) {
        await failIfReturned(context)
        throw new SlipwayError('ImageNotBooted', `the machine came back with ${nameOf(booted)}`)
      }
      await confirmBooted(context, plan, clock, signal)
    },
  }
}

/** Throws ImageUnhealthy, and ImageRolledBack where the guard was first: then nothing of it is taken away. */
export async function confirmBooted(
  context: StepContext,
  { unit }: ImagePlan,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (unit !== undefined) await untilStable(context, unit, clock, signal)
  await insist(clock, () => takeFromGuard(context), signal)
  await clearAway(context, clock, signal)
}

async function takeFromGuard(context: StepContext): Promise<void> {
  await disarm(context.host)
  await failIfReturned(context)
}

async function untilStable({ host }: StepContext, unit: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const beganMs = clock.monotonicMs()
  let up: { readonly since: string; readonly seenMs: number } | undefined
  let why = 'it did not stay up for half a minute'
  while (clock.monotonicMs() - beganMs < patienceMs) {
    const look = await lookAt(host, unit, signal)
    if (look.state === 'failed') throw unhealthy(unit, look.why)
    if (look.state === 'starting') up = undefined
    if (look.state !== 'up') why = look.why
    else if (up?.since !== look.since) up = { since: look.since, seenMs: clock.monotonicMs() }
    else if (clock.monotonicMs() - up.seenMs >= stableMs) return
    await sleep(clock, lookAgainMs, signal)
  }
  throw unhealthy(unit, why)
}

/** A tool that fails says nothing of the kubelet. */
async function lookAt(
  host: StepContext['host'],
  unit: string,
  signal: AbortSignal,
): Promise<KubeletState | { readonly state: 'unseen'; readonly why: string }> {
  try {
    return await kubeletState(host, unit, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return { state: 'unseen', why: messageOf(error) }
  }
}

/** What fails of the host's tools and disk may pass, and is no reason to boot a host that is well: it is done again meanwhile. */
async function insist<T>(clock: Clock, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const patience = new Deadline(clock, patienceMs)
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isVerdict = error instanceof SlipwayError && error.code === 'ImageRolledBack'
      if (signal.aborted || isVerdict || patience.isOver) throw error
      await sleep(clock, lookAgainMs, signal)
    }
  }
}

/** Disarmed it does nothing: what cannot be cleared away is told, and no reason to leave the image. */
async function clearAway({ host, warn }: StepContext, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await removeGuard(host, signal)
    } catch (error) {
      if (signal.aborted) throw error
      if (tries >= clearTries) {
        const next = 'delete /etc/systemd/system/slipway-boot-guard.* on the host'
        return await warn(
          `the new image is confirmed, but its boot guard is not cleared away: ${messageOf(error)}; ${next}`,
        )
      }
      await sleep(clock, lookAgainMs, signal)
    }
  }
}

function unhealthy(unit: string, why: string): SlipwayError {
  return new SlipwayError('ImageUnhealthy', `the new image runs, but not its ${unit}: ${why}`)
}
