// A drain always says why it is not over. While its pods go as they should that is no obstacle, and nobody has to be told of it.

import type { Reason } from '../../api/reason.ts'
import type { Operation } from '../update/operation.ts'

/** What a node says from the moment on it is taken. */
export function firstReason({ disruption }: Pick<Operation, 'disruption'>): Reason {
  return disruption === 'None'
    ? { code: 'WaitingForAgent', message: 'nothing has to leave it; its order is written next' }
    : { code: 'PodEvicting', message: 'its pods are asked to leave' }
}

export function isInGoodOrder({ code }: Pick<Reason, 'code'>): boolean {
  return code === 'PodEvicting'
}
