import type { Disk } from '../../ports/disk.ts'
import type { ContentShelf, Notes } from '../drivers/driver.ts'
import { corrupt, readSealed, seal, sha256, writeAtomically } from './sealed-file.ts'

export function folderNotes(disk: Disk, folder: string): Notes {
  return {
    read: (name, schema) => readSealed(disk, `${folder}/${name}`, schema),
    write: async (name, value) => {
      await makeDurableFolder(disk, folder)
      await writeAtomically(disk, folder, name, seal(value))
    },
  }
}

/** Content fetched for the steps, a file for each; checked against its SHA-256 whenever it is read back. */
export function folderContent(disk: Disk, folder: string): ContentShelf {
  const path = (hash: string) => `${folder}/${hash}`
  const find = async (hash: string): Promise<string | undefined> => {
    const content = await disk.read(path(hash))
    if (content === undefined) return undefined
    // Damaged content is never fetched over in silence.
    if (sha256(content) !== hash) throw corrupt(path(hash), 'does not have the SHA-256 the order names')
    return content
  }
  return {
    path,
    has: async (hash) => (await find(hash)) !== undefined,
    read: async (hash) => {
      const content = await find(hash)
      if (content === undefined) throw corrupt(path(hash), 'is missing, though the order was staged')
      return content
    },
    keep: async (content) => {
      await makeDurableFolder(disk, folder)
      await writeAtomically(disk, folder, sha256(content), content, 0o700)
    },
  }
}

async function makeDurableFolder(disk: Disk, folder: string): Promise<void> {
  await disk.makeFolder(folder)
  await disk.syncFolder(folder.slice(0, folder.lastIndexOf('/')))
}
