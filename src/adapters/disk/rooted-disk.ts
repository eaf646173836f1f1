import { join } from 'node:path'
import type { Disk } from '../../ports/disk.ts'

/** A disk of its own inside a folder of another: `/a` is `ROOT/a` there, and no path leads out. */
export function rootedDisk(disk: Disk, root: string): Disk {
  // Joined as an absolute path first, so that `..` ends at the root.
  const at = (path: string) => join(root, join('/', path))
  return {
    read: (path) => disk.read(at(path)),
    readTail: (path, bytes) => disk.readTail(at(path), bytes),
    readFrom: (path, offset, maxBytes) => disk.readFrom(at(path), offset, maxBytes),
    bytes: (path) => disk.bytes(at(path)),
    write: (path, content, mode) => disk.write(at(path), content, mode),
    sync: (path) => disk.sync(at(path)),
    rename: (from, to) => disk.rename(at(from), at(to)),
    remove: (path) => disk.remove(at(path)),
    makeFolder: (path) => disk.makeFolder(at(path)),
    syncFolder: (path) => disk.syncFolder(at(path)),
    names: (path) => disk.names(at(path)),
    removeFolder: (path) => disk.removeFolder(at(path)),
  }
}
