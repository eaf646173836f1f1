import type { Disk } from '../../ports/disk.ts'
import type { Log } from '../../ports/log.ts'
import { type EndedOrder, type Keeping, leftovers } from './leftovers.ts'
import { hasEnded, isEndFile, logFolder, OrderFolder, orderFile, orderFolders, stagingFolder } from './order-folder.ts'

export interface PruneOptions {
  readonly disk: Disk
  readonly log: Log
  readonly stateDir: string
  readonly keeping: Keeping
  /** The order the NodeState names: it is answered from its folder, so that stays. */
  readonly openOrder: string | undefined
}

/** Clears away what ended orders left, oldest first. An order that has not ended, or cannot be read, is never touched. */
export async function prune({ disk, log, stateDir, keeping, openOrder }: PruneOptions, now: Date): Promise<void> {
  const orders = `${stateDir}/orders`
  const ended: EndedOrder[] = []
  for (const name of await disk.names(orders)) {
    const path = `${orders}/${name}`
    const names = await disk.names(path)
    if (!hasEnded(names)) continue
    // Of one whose agent died when it had written the end.
    if (names.includes(stagingFolder)) await disk.removeFolder(`${path}/${stagingFolder}`)
    if (!names.includes(orderFile)) await removeOrder(disk, path)
    else {
      const order = await endedOrder(disk, path, name, openOrder, log)
      if (order) ended.push(order)
    }
  }
  const { folders, logs } = leftovers(ended, keeping, now.getTime())
  for (const name of folders) await removeOrder(disk, `${orders}/${name}`)
  for (const name of logs) await disk.removeFolder(`${orders}/${name}/${logFolder}`)
  if (folders.length + logs.length > 0) log.info('cleared away old orders', { folders, logs })
}

async function endedOrder(
  disk: Disk,
  path: string,
  name: string,
  openOrder: string | undefined,
  log: Log,
): Promise<EndedOrder | undefined> {
  try {
    const folder = await OrderFolder.load(disk, path)
    const finishedAt = folder?.end?.report.finishedAt
    if (finishedAt === undefined || folder?.accepted.order.id === openOrder) return undefined
    return { name, finishedAt, logBytes: await logBytes(disk, path) }
  } catch (error) {
    log.warn('an old order cannot be read and stays', { path, error: String(error) })
    return undefined
  }
}

async function logBytes(disk: Disk, path: string): Promise<number> {
  let sum = 0
  for (const name of await disk.names(`${path}/${logFolder}`)) {
    sum += (await disk.bytes(`${path}/${logFolder}/${name}`)) ?? 0
  }
  return sum
}

/** The word that it ended goes last: cut off anywhere, the order is never taken for one that is still to be run. */
async function removeOrder(disk: Disk, path: string): Promise<void> {
  const rest = (await disk.names(path)).filter((name) => !isEndFile(name) && name !== orderFile)
  for (const name of rest) {
    if (orderFolders.includes(name)) await disk.removeFolder(`${path}/${name}`)
    else await disk.remove(`${path}/${name}`)
  }
  await disk.syncFolder(path)
  if ((await disk.read(`${path}/${orderFile}`)) !== undefined) {
    await disk.remove(`${path}/${orderFile}`)
    await disk.syncFolder(path)
  }
  await disk.removeFolder(path)
}
