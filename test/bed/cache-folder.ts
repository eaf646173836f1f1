// What is made once and kept in the user's cache folder: made beside its place and moved there whole.

import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { removeTree } from './bed-leftovers.ts'

export function assetsFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'slipway', 'assets')
}

/** The cached folder of that name. A name carries the versions of all that went in, so one that exists is right. */
export async function cachedFolder(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(assetsFolder(), name)
  if (await exists(folder)) return folder
  return locked(`${folder}.lock`, async () => {
    if (await exists(folder)) return folder
    await besideIt(folder, async (fresh) => {
      await make(fresh)
      await rename(fresh, folder)
    })
    return folder
  })
}

/** Work in a new folder beside that one, by the holder of its lock: what one that was killed has left there goes first. */
export async function besideIt(folder: string, work: (fresh: string) => Promise<void>): Promise<void> {
  const prefix = `${folder}.new-`
  for (const name of await readdir(dirname(folder))) {
    const path = join(dirname(folder), name)
    if (path.startsWith(prefix)) removeTree(path)
  }
  const fresh = await mkdtemp(prefix)
  try {
    await work(fresh)
  } finally {
    removeTree(fresh)
  }
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Several test runs may start at once; one works, the others wait for it. A lock of a dead process is removed. */
export async function locked<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lock), { recursive: true })
  for (;;) {
    try {
      await writeFile(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const holder = Number(await readFile(lock, 'utf8').catch(() => '0'))
    if (holder > 0 && !isAlive(holder)) await rm(lock, { force: true })
    else await wait(500)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
