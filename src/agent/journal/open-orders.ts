import { acceptedOrderSchema } from '../../api/journal.ts'
import type { Order } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'
import { hasEnded, orderFile } from './order-folder.ts'
import { readSealed } from './sealed-file.ts'

/**
 * Orders that were accepted and have no end yet. Only reads: they may be under way, and their folders are another's to put in order,
 * or to complain of where they are damaged.
 */
export async function openOrders(disk: Disk, stateDir: string): Promise<readonly Order[]> {
  const open: Order[] = []
  for (const name of await disk.names(`${stateDir}/orders`)) {
    const path = `${stateDir}/orders/${name}`
    if (hasEnded(await disk.names(path))) continue
    const accepted = await readable(readSealed(disk, `${path}/${orderFile}`, acceptedOrderSchema))
    if (accepted) open.push(accepted.order)
  }
  return open
}

async function readable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'JournalCorrupt') return undefined
    throw error
  }
}
