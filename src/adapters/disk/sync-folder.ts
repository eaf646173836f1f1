import { open } from 'node:fs/promises'

/** The names in it survive a power cut from here on. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
