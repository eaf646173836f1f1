// The chart as `helm package` would pack it, but with the version of package.json and the same bytes every time.

import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type TarEntry, tar } from '../image/tar.ts'

/** Of a chart's folder. */
export async function chartPackage(folder: string, version: string): Promise<Buffer> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  const entries = await Promise.all(
    paths.map(async (path): Promise<TarEntry> => {
      const content = await readFile(join(folder, path))
      const ours = path === 'Chart.yaml' ? Buffer.from(stamped(content.toString('utf8'), version)) : content
      return { path: `slipway/${path}`, kind: 'file', mode: 0o644, content: ours }
    }),
  )
  return gzipSync(tar(entries), { level: 6 })
}

/** Its own version and that of the program in it are one. */
export function stamped(chart: string, version: string): string {
  const stamps = [
    [/^version:.*$/m, `version: ${version}`],
    [/^appVersion:.*$/m, `appVersion: "${version}"`],
  ] as const
  return stamps.reduce((text, [line, stamp]) => {
    if (line.test(text)) return text.replace(line, stamp)
    throw new SlipwayError('Internal', `Chart.yaml has no line like "${stamp}"`, { nextStep: 'put it there' })
  }, chart)
}
