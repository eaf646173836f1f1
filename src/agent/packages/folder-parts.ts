import type { Host } from '../../ports/host.ts'
import type { RepositoryFile } from './package-manager.ts'

/** The files of a `….d` folder whose names are taken. A sub-folder there is passed over, as package managers do. */
export async function folderParts(
  host: Host,
  folder: string,
  isTaken: (name: string) => boolean,
  signal: AbortSignal,
): Promise<readonly RepositoryFile[]> {
  const found: RepositoryFile[] = []
  for (const name of (await host.files.names(folder)).filter(isTaken)) {
    const path = `${folder}/${name}`
    const content = (await isFile(host, path, signal)) ? await host.files.read(path) : undefined
    if (content !== undefined) found.push({ path, content })
  }
  return found
}

async function isFile(host: Host, path: string, signal: AbortSignal): Promise<boolean> {
  const { kind } = await host.files.look(path)
  if (kind !== 'link') return kind === 'file'
  return (await host.run({ argv: ['test', '-f', path] }, signal)).exitCode === 0
}
