// What an earlier life did and a boot took back. Some tools keep a change only at an orderly shutdown, so lost power takes it
// along after its step was done.

import type { Reason } from '../api/reason.ts'
import type { Clock } from '../ports/clock.ts'
import type { Step, StepContext } from './drivers/driver.ts'
import type { OrderFolder } from './journal/order-folder.ts'
import type { FailedStep } from './report.ts'

interface Interrupted {
  readonly folder: OrderFolder
  /** Those that do the work, then those that take it back. */
  readonly steps: readonly Step[]
  readonly context: Omit<StepContext, 'begunInBoot'>
  readonly clock: Clock
}

/** Opens such steps again; returns the one for which the order itself has booted the machine, in vain. */
export async function reopenLost(
  { folder, steps, context, clock }: Interrupted,
  signal: AbortSignal,
): Promise<FailedStep | undefined> {
  const isBack = folder.failure !== undefined
  const first = folder.accepted.steps.length
  for (const [index, step] of steps.entries()) {
    const counts = index >= first === isBack
    if (!counts || !step.isKeptAtShutdown || !folder.steps[index]?.done) continue
    const missing = await step.missing?.({ ...context, begunInBoot: undefined }, signal)
    if (missing === undefined) continue
    const hasBooted = steps.some((later, at) => at > index && later.boots && hasRun(folder, at))
    if (hasBooted && !isBack) return { index, finishedAt: clock.now(), reason: notKept(step, missing) }
    await context.warn(`step ${step.name} was done, and a boot took it back (${missing}): it is done again`)
    await folder.reopen(index)
  }
  return undefined
}

/** Not: its effect was there already. */
export function hasRun({ steps }: OrderFolder, index: number): boolean {
  const record = steps[index]
  return record?.begun !== undefined || (record?.done?.starts ?? 0) > 0
}

function notKept({ name }: Step, missing: string): Reason {
  const message = `step ${name} was done, but the machine came back from its reboot without it: ${missing}; was the power lost, or is /boot full?`
  return { code: 'StepFailed', message }
}
