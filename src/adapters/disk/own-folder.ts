// Folders that a process makes for itself where others make theirs, too. The name says who made it, so that what is in use is told from
// what a crash left.

import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { startTimeOf } from '../host/process-table.ts'
import { unlessMissing } from './disk-error.ts'

/** Boot, pid and start time of its maker: a pid alone is given away again. Short, for a socket's path has 107 bytes. */
const shape = /^([0-9a-f]{8})-(\d+)-(\d+)-/

/** Makes one that root alone can enter; answers its name. */
export async function makeOwnFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const maker = [await bootMark(), process.pid, await startTimeOf(process.pid)].join('-')
  return basename(await mkdtemp(join(parent, `${maker}-`)))
}

/** The names of those whose makers have ended. What this process made counts as left where it is not `inUse`, if that is given. */
export async function leftFolders(parent: string, inUse?: ReadonlySet<string>): Promise<readonly string[]> {
  const names = (await readdir(parent).catch(unlessMissing)) ?? []
  const boot = await bootMark()
  const left = names.map(async (name) => {
    const [, ofBoot, pid, startTime] = shape.exec(name) ?? []
    const lives = ofBoot === boot && (await startTimeOf(Number(pid))) === startTime
    const isUsed = inUse === undefined || Number(pid) !== process.pid || inUse.has(name)
    return lives && isUsed ? [] : [name]
  })
  return (await Promise.all(left)).flat()
}

/** From the same /proc that tells of processes. */
async function bootMark(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8)
}
