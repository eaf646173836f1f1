// For an order that ends half-way: what is only staged is dropped, what is booted is confirmed or left again. Otherwise any
// later reboot would boot the image, and the guard would reboot a node that has its pods back.

import type { ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { StepContext } from '../driver.ts'
import { guardReturned, isGuardSet, removeGuard } from './boot-guard.ts'
import { confirmBooted } from './confirm-image.ts'
import { findPlan, hadItBefore, imageStatus, isWanted } from './image-state.ts'
import { dropStaged, leaveBooted } from './return-image.ts'

const isToBeLeft: readonly string[] = ['ImageUnhealthy', 'ImageRolledBack']

export async function settleImage(context: StepContext, clock: Clock, signal: AbortSignal): Promise<void> {
  const plan = await findPlan(context)
  if (!plan || hadItBefore(plan)) return
  const { booted } = await imageStatus(context.host, signal)
  if (!isWanted(plan, booted)) return await dropStaged(context, signal)
  // Looked at before the other: the guard may begin to go back between the two.
  const isSet = await isGuardSet(context)
  // Cut off on its way back.
  if (await guardReturned(context)) return await leaveOrStay(context, plan, clock, signal)
  if (!isSet) return await removeGuard(context.host, signal)
  try {
    await confirmBooted(context, plan, clock, signal)
  } catch (error) {
    if (!(error instanceof SlipwayError) || !isToBeLeft.includes(error.code)) throw error
    await context.warn(`the order was stopped with its image booted, and that was taken back: ${error.message}`)
    await leaveOrStay(context, plan, clock, signal)
  }
}

/** A host that does not get away from the image keeps it, and says so; the guard would only boot it once more. */
async function leaveOrStay(context: StepContext, plan: ImagePlan, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await leaveBooted(context, plan, clock, signal)
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'ImageNotBooted') throw error
    await removeGuard(context.host, signal)
    await context.warn(error.message)
  }
}
