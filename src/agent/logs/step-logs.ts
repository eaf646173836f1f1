// The logs of the steps of one order, as they lie on the host's disk.

import { acceptedOrderSchema } from '../../api/journal.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'
import { folderName, logFolder, orderFile } from '../journal/order-folder.ts'
import { readSealed, unlessCorrupt } from '../journal/sealed-file.ts'

export interface LogWish {
  /** Absent = the newest. */
  readonly order?: string | undefined
  /** Absent = all of them. */
  readonly step?: string | undefined
}

export interface StepLogs {
  readonly order: string
  readonly folder: string
  /** In the order in which they were written. */
  readonly files: readonly string[]
}

const logFile = /^step-[0-9]{2}-(.+)\.([0-9]+)\.log$/

/** Throws LogMissing, naming what there is instead. */
export async function findLogs(disk: Disk, stateDir: string, wish: LogWish): Promise<StepLogs> {
  const { order, path } = await findOrder(disk, stateDir, wish.order)
  const folder = `${path}/${logFolder}`
  const all = (await disk.names(folder)).filter((name) => logFile.test(name))
  const files = all.filter((name) => wish.step === undefined || logFile.exec(name)?.[1] === wish.step).toSorted(byStart)
  if (files.length > 0 || wish.step === undefined) return { order, folder, files }
  const steps = [...new Set(all.map((name) => logFile.exec(name)?.[1]))].join(', ')
  throw new SlipwayError('LogMissing', `order ${order} has no log of step ${wish.step}`, {
    nextStep: steps === '' ? 'none of its steps wrote one' : `it has logs of ${steps}`,
  })
}

/** The last `bytes` of all of them together, each under its name where there are several. */
export async function readLogs(disk: Disk, { folder, files }: StepLogs, bytes: number): Promise<string> {
  let text = ''
  let room = bytes
  for (const file of files.toReversed()) {
    const head = files.length > 1 ? `==> ${file} <==\n` : ''
    const tail =
      (await disk.readTail(`${folder}/${file}`, Math.max(0, room - head.length)))?.replace(/^\uFFFD+/, '') ?? ''
    const end = tail === '' || tail.endsWith('\n') || text === '' ? '' : '\n'
    text = `${head}${tail}${end}${text}`
    room = bytes - Buffer.byteLength(text)
    if (room <= 0) break
  }
  return text
}

/** Only reads: the order may be under way, and its folder is another's to put in order. */
async function findOrder(
  disk: Disk,
  stateDir: string,
  wanted: string | undefined,
): Promise<{ readonly order: string; readonly path: string }> {
  const orders = `${stateDir}/orders`
  const names = wanted === undefined ? await disk.names(orders) : [folderName(wanted)]
  const found: { readonly order: string; readonly path: string; readonly acceptedAt: string }[] = []
  for (const name of names) {
    const path = `${orders}/${name}`
    const reading = readSealed(disk, `${path}/${orderFile}`, acceptedOrderSchema)
    const accepted = await (wanted === undefined ? unlessCorrupt(reading) : reading)
    if (accepted) found.push({ order: accepted.order.id, path, acceptedAt: accepted.acceptedAt })
  }
  const newest = found.toSorted((a, b) => b.acceptedAt.localeCompare(a.acceptedAt))[0]
  if (newest) return newest
  const what = wanted === undefined ? 'no order has been carried out here' : `no order ${wanted} is known here`
  throw new SlipwayError('LogMissing', what, { nextStep: `look at ${orders} on the host` })
}

function byStart(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
