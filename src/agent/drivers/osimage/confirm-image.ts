// The new image is kept once its kubelet has stayed up for a while; then the guard is taken away.

import type { ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { sleep } from '../../../kube/sleep.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { disarm, hasGuardFiles, removeGuard, trialSeconds } from './boot-guard.ts'
import { failIfReturned } from './boot-image.ts'
import { hadItBefore, imageStatus, isWanted, nameOf, planOf } from './image-state.ts'
import { kubeletState } from './kubelet-unit.ts'

const stableMs = 30_000
const lookAgainMs = 2_000
/** Shorter than the guard waits, so that the agent, where it runs, says what is wrong. */
const patienceMs = (trialSeconds / 2) * 1000

export function confirmImageStep(clock: Clock): ActStep {
  return {
    name: 'confirm-image',
    disruptive: false,
    attempts: 1,
    holds: async (context) => hadItBefore(await planOf(context)),
    act: async (context, signal) => {
      const plan = await planOf(context)
      const { booted } = await imageStatus(context.host, signal)
      if (!isWanted(plan, booted)) {
        await failIfReturned(context)
        throw new SlipwayError('ImageNotBooted', `the machine came back with ${nameOf(booted)}`)
      }
      await confirmBooted(context, plan, clock, signal)
    },
    missing: async ({ host }) => ((await hasGuardFiles(host)) ? 'the boot guard is still there' : undefined),
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
  await disarm(context.host)
  await failIfReturned(context)
  await removeGuard(context.host, signal)
}

async function untilStable({ host }: StepContext, unit: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const beganMs = clock.monotonicMs()
  let up: { readonly since: string; readonly seenMs: number } | undefined
  let why = 'it did not stay up for half a minute'
  while (clock.monotonicMs() - beganMs < patienceMs) {
    const state = await kubeletState(host, unit, signal)
    if (state.state === 'failed') throw unhealthy(unit, state.why)
    if (state.state === 'starting') {
      up = undefined
      why = state.why
    } else if (up?.since !== state.since) up = { since: state.since, seenMs: clock.monotonicMs() }
    else if (clock.monotonicMs() - up.seenMs >= stableMs) return
    await sleep(clock, lookAgainMs, signal)
  }
  throw unhealthy(unit, why)
}

function unhealthy(unit: string, why: string): SlipwayError {
  return new SlipwayError('ImageUnhealthy', `the new image runs, but not its ${unit}: ${why}`)
}
