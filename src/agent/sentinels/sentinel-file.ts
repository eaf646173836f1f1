import type { FileLook, HostFiles } from '../../ports/host-files.ts'

/** A link counts: whoever asks may do so through one. A folder asks for nothing. */
export function isSentinel({ kind }: FileLook): boolean {
  return kind !== 'none' && kind !== 'folder'
}

export async function asks(files: HostFiles, path: string): Promise<boolean> {
  return isSentinel(await files.look(path))
}

/** As `touch` makes it where there is none; one that is there is left alone. */
export async function touch(files: HostFiles, path: string, content: string): Promise<void> {
  if (!(await asks(files, path))) await files.write(path, content, { mode: 0o644, owner: 'root', group: 'root' })
}
