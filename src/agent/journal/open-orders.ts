import { acceptedOrderSchema } from '../../api/journal.ts'
import type { Order } from '../../api/node-state.ts'
import type { Disk } from '../../ports/disk.ts'
import { hasEnded, orderFile } from './order-folder.ts'
import { readSealed, unlessCorrupt } from './sealed-file.ts'

/**
 * Orders that were accepted and have no end yet. Only reads: they may be under way, and their folders are another's to put in order,
 * or to complain of where they are damaged.
 */
export async function openOrders(disk: Disk, stateDir: string): Promise<readonly Order[]> {
  const open: Order[] = []
  for (const name of await disk.names(`${stateDir}/orders`)) {
    const path = `${stateDir}/orders/${name}`
    if (hasEnded(await disk.names(path))) continue
    const accepted = await unlessCorrupt(readSealed(disk, `${path}/${orderFile}`, acceptedOrderSchema))
    if (accepted) open.push(accepted.order)
  }
  return open
}
