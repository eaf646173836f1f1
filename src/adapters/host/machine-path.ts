import { lstat, readlink } from 'node:fs/promises'
import { SlipwayError } from '../../api/slipway-error.ts'

const maxLinks = 40

/**
 * Where a path of the machine lies for this process. Links on the way are followed within the machine's root, absolute ones too:
 * the kernel would follow them in the container's. The last part is left as it is unless `followLast`.
 */
export async function machinePath(root: string, path: string, followLast = false): Promise<string> {
  const left = partsOf(path)
  let done: string[] = []
  let links = 0
  while (left.length > 0) {
    const part = left.shift() ?? ''
    if (part === '..') {
      done = done.slice(0, -1)
      continue
    }
    const here = [root, ...done, part].join('/')
    const target = left.length > 0 || followLast ? await linkTarget(here) : undefined
    if (target === undefined) {
      done.push(part)
      continue
    }
    if (++links > maxLinks) throw new SlipwayError('DiskFailed', `${path} leads through too many links`, { path })
    if (target.startsWith('/')) done = []
    left.unshift(...partsOf(target))
  }
  return `${root}/${done.join('/')}`
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch {
    // Not there: nothing to follow; whoever opens it says so.
    return undefined
  }
}
