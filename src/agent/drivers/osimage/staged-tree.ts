import { deploymentRoot } from '../../../core/image/status.ts'
import type { StepContext } from '../driver.ts'
import { imageStatus, isWanted, planOf } from './image-state.ts'
import { ensureStaged } from './stage-image.ts'

/**
 * Where the programs of the order's OS image lie before it is booted, as the host sees it: `/` where it is booted already,
 * undefined where the order has none. Stages the image where it is not; loses nothing but time when called again.
 */
export async function stagedTree(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  if (context.order.work.os?.image === undefined) return undefined
  const plan = await planOf(context)
  const { booted } = await imageStatus(context.host, signal)
  return isWanted(plan, booted) ? '/' : deploymentRoot(await ensureStaged(context, plan, signal))
}
