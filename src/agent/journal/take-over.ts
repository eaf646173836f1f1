// A newer agent goes on with the orders of an older one. What changed with each format:
//   2  the content of an order is a file for each SHA-256 in the folder `content`; before, `content` was the one script itself.
// Killed anywhere in between it is begun again: `order.json` gets the new format after everything else.

import type { Disk } from '../../ports/disk.ts'
import { sha256, writeAtomically } from './sealed-file.ts'

const content = 'content'
const moved = 'content.before-2'

export async function takeOver(
  disk: Disk,
  path: string,
  names: readonly string[],
  format: number,
  writeOrder: () => Promise<void>,
): Promise<void> {
  const isMoved = names.includes(moved)
  if (format < 2) {
    if (!isMoved && names.includes(content)) {
      await disk.rename(`${path}/${content}`, `${path}/${moved}`)
      await disk.syncFolder(path)
    }
    const script = await disk.read(`${path}/${moved}`)
    if (script !== undefined) {
      await disk.makeFolder(`${path}/${content}`)
      await disk.syncFolder(path)
      await writeAtomically(disk, `${path}/${content}`, sha256(script), script, 0o700)
    }
    await writeOrder()
    if (script !== undefined) await disk.remove(`${path}/${moved}`)
  } else if (isMoved) await disk.remove(`${path}/${moved}`)
}
