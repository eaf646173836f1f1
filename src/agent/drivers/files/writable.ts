import type { Host } from '../../../ports/host.ts'

/** As `test` says no; any other code says nothing. */
const no = 1

/** Why nothing can be put at the path, in words; undefined when it can. Looked at while the node still works. */
export async function whyNotWritable(host: Host, path: string, signal: AbortSignal): Promise<string | undefined> {
  const isFile = (await host.files.look(path)).kind === 'file'
  for (const place of [...(isFile ? [path] : []), await folderOf(host, path)]) {
    const { exitCode } = await host.run({ argv: ['test', '-w', place] }, signal)
    if (exitCode === no)
      return `${path} cannot be written: ${place} is mounted read-only, or has the attribute immutable`
  }
  return undefined
}

/** The innermost folder on the way to it that is there. */
async function folderOf(host: Host, path: string): Promise<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at)
    if ((await host.files.look(folder)).kind !== 'none') return folder
  }
  return '/'
}
