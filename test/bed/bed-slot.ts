/**
 * A bed's place on this machine: a number, and from it every name and address it uses, so that several beds live side by
 * side. The number's owner is written down, so that the next bed clears away what a killed one has left.
 */

import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { clearNames, leftovers, removeTree } from './bed-leftovers.ts'
import { locked } from './cache-folder.ts'

export interface BedSlot {
  readonly number: number
  /** Begins the name of each interface, network namespace and cgroup: `slw3`, and `slw3n1` for its first machine. */
  readonly prefix: string
  /** The first three numbers of every address: `10.77.3`. */
  readonly network: string
  /** All it writes; removed with the bed. */
  readonly folder: string
}

const ownerShape = z.object({ pid: z.number(), startedAt: z.string(), folder: z.string() })
type Owner = z.infer<typeof ownerShape>

const register = '/run/slipway-bed'
const inotifyLimit = '/proc/sys/fs/inotify/max_user_instances'
const inotifyBefore = join(register, 'inotify-before')
const slots = 100

export async function takeSlot(): Promise<BedSlot> {
  return locked(join(register, 'lock'), async () => {
    for (const number of takenNumbers()) {
      const owner = readOwner(number)
      if (owner && !isAlive(owner)) clearSlot(slotOf(number, owner.folder))
    }
    const taken = new Set(takenNumbers())
    const number = Array.from({ length: slots }, (_, index) => index + 1).find((each) => !taken.has(each))
    if (number === undefined) throw new Error(`${slots} beds are in use: see ${register}`)
    // The disk, not memory: a node's images are gigabytes.
    const folder = mkdtempSync(`/var/tmp/slipway-bed-${number}-`)
    writeOwner(number, { pid: process.pid, startedAt: startOf(process.pid), folder })
    raiseInotifyLimit()
    const slot = slotOf(number, folder)
    // Its last owner may have been stopped in the middle of clearing up.
    clearNames(slot.prefix)
    return slot
  })
}

/** Ends and removes everything of this slot and frees its number. Synchronous, so that it can run while a process ends. */
export function clearSlot(slot: BedSlot): void {
  clearNames(slot.prefix)
  removeTree(slot.folder)
  rmSync(ownerFile(slot.number), { force: true })
  if (takenNumbers().length === 0) restoreInotifyLimit()
}

/** What of this slot is still there: processes, mounts, namespaces, interfaces, cgroups, files. */
export function leftoversOf(slot: BedSlot): string[] {
  return leftovers(slot.prefix, slot.folder)
}

function slotOf(number: number, folder: string): BedSlot {
  return { number, prefix: `slw${number}`, network: `10.77.${number}`, folder }
}

function takenNumbers(): number[] {
  return readdirSync(register).flatMap((name) => {
    const number = /^slot-(\d+)\.json$/.exec(name)?.[1]
    return number === undefined ? [] : [Number(number)]
  })
}

function ownerFile(number: number): string {
  return join(register, `slot-${number}.json`)
}

/** Undefined: given back since it was listed. Who closes a bed holds no lock. */
function readOwner(number: number): Owner | undefined {
  try {
    return ownerShape.parse(JSON.parse(readFileSync(ownerFile(number), 'utf8')))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Linked into place, so that nobody reads half of it. */
function writeOwner(number: number, owner: Owner): void {
  const draft = join(register, `draft-${process.pid}`)
  mkdirSync(register, { recursive: true })
  writeFileSync(draft, JSON.stringify(owner))
  try {
    linkSync(draft, ownerFile(number))
  } finally {
    rmSync(draft)
  }
}

function isAlive(owner: Owner): boolean {
  try {
    const [state] = statusOf(owner.pid)
    // One that ended and was not fetched by its parent yet has an entry still.
    return state !== 'Z' && startOf(owner.pid) === owner.startedAt
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH') return false
    throw error
  }
}

/** A pid that was given away again has another one. */
function startOf(pid: number): string {
  return statusOf(pid)[19] ?? ''
}

/** The fields of the process's stat from the third on: the second is its name, with spaces or brackets perhaps. */
function statusOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** The usual 128 is enough for about seven kubelets. */
function raiseInotifyLimit(): void {
  const before = readFileSync(inotifyLimit, 'utf8')
  if (Number(before) >= 1024) return
  writeFileSync(inotifyBefore, before)
  writeFileSync(inotifyLimit, '1024')
}

function restoreInotifyLimit(): void {
  try {
    writeFileSync(inotifyLimit, readFileSync(inotifyBefore, 'utf8'))
    rmSync(inotifyBefore)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
