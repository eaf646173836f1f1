import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { machinePath } from './machine-path.ts'

interface Post {
  readonly folder: string
  /** The file itself, or the first folder on the way to it that is not there yet. */
  readonly name: string
  readonly isFinal: boolean
}

/**
 * Calls back when one of the paths comes, goes or changes, until aborted. Folders are watched, not files: files are replaced by
 * renames. Where a folder is missing, the next one above it is watched until it comes.
 */
export async function watchPaths(
  root: string,
  paths: readonly string[],
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  let watchers: readonly FSWatcher[] = []
  let round = 0
  const close = () => {
    for (const watcher of watchers) watcher.close()
    watchers = []
  }
  const post = async (): Promise<void> => {
    const mine = ++round
    const posts = await Promise.all(paths.map((path) => postFor(root, path)))
    if (mine !== round || signal.aborted) return
    close()
    watchers = posts.map(({ folder, name, isFinal }) => {
      const watcher = watch(folder, (_event, changed) => {
        if (changed !== null && changed !== name && changed !== basename(folder)) return
        onChange()
        if (!isFinal || changed !== name) repost()
      })
      // A folder that goes away is the slow check's business.
      watcher.on('error', () => watcher.close())
      return watcher
    })
  }
  // Whoever is between two folders that come and go is caught by the slow check.
  const repost = () => void post().catch(() => close())
  await post()
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  round += 1
  close()
}

async function postFor(root: string, path: string): Promise<Post> {
  const at = await machinePath(root, path)
  let name = basename(at)
  let folder = dirname(at)
  let isFinal = true
  while (!(await isFolder(folder)) && folder.length > Math.max(1, root.length)) {
    name = basename(folder)
    folder = dirname(folder)
    isFinal = false
  }
  return { folder, name, isFinal }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}
