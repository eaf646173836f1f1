import type { Work } from '../../../api/work.ts'

export interface RebootView {
  readonly choice: NonNullable<Work['reboot']>
  readonly bootId: string
  /** The boot the order was decided in. */
  readonly decidedInBoot: string | undefined
  /** The boot in which this order asked for the reboot; undefined before. */
  readonly begunInBoot: string | undefined
  /** Why the operating system asks for one. */
  readonly rebootRequired: string | undefined
  /** Why nothing can tell whether it needs one. */
  readonly rebootUnknown: string | undefined
}

export type RebootDecision =
  | { readonly reboot: true }
  | { readonly reboot: false; readonly because: 'Done' | 'NotRequired' | 'Unknown' | 'BootedSince' | 'Never' }

/** One boot is enough for one order, whoever asked for it: an order that was decided in another boot never reboots. */
export function decideReboot(view: RebootView): RebootDecision {
  const { choice, bootId, decidedInBoot, begunInBoot, rebootRequired, rebootUnknown } = view
  if (choice === 'Never') return { reboot: false, because: 'Never' }
  if (begunInBoot !== undefined && begunInBoot !== bootId) return { reboot: false, because: 'Done' }
  if (decidedInBoot !== undefined && decidedInBoot !== bootId) return { reboot: false, because: 'BootedSince' }
  if (choice === 'IfRequired' && rebootRequired === undefined) {
    return { reboot: false, because: rebootUnknown === undefined ? 'NotRequired' : 'Unknown' }
  }
  return { reboot: true }
}
