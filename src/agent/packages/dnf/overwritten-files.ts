// Whether several versions of a package are what a transaction left that was cut off, as far as their files tell. Beside a version
// that is there rpm installs no other one with a file of the same path and other content: who keeps versions side by side on purpose
// has packages that share folders, links or the very same file, as a licence, and nothing else.

import { dnfName, parseRpms, rpmFormat } from './rpm-status.ts'

/** Each package, and its files. Only regular files that it brings have a digest: no folders, links or ghosts. */
const format = `${rpmFormat}[%{filedigests}\\t%{filenames}\\n]`

export function filesQuery(name: string): readonly string[] {
  return ['rpm', '-q', '--qf', format, name]
}

interface Installed {
  readonly name: string
  readonly version: string
  /** By path. */
  readonly digests: ReadonlyMap<string, string>
}

/** `said` is the answer to the query. The same version twice rpm gives nobody who asks for it. */
export function isLeftOver(said: string, name: string, keep: string, native: string): boolean {
  const all = parseInstalled(said, native).filter((each) => each.name === name)
  const kept = all.find(({ version }) => version === keep)
  const others = all.filter((each) => each !== kept)
  if (!kept || others.length === 0) return false
  return others.every((other) => other.version === keep || isOverwritten(other, kept))
}

function isOverwritten({ digests }: Installed, by: Installed): boolean {
  return [...digests].some(([path, digest]) => (by.digests.get(path) ?? digest) !== digest)
}

function parseInstalled(said: string, native: string): readonly Installed[] {
  const all: Installed[] = []
  let digests = new Map<string, string>()
  for (const line of said.split('\n')) {
    const [rpm] = parseRpms(line)
    const [digest = '', path = ''] = line.split('\t')
    if (rpm) {
      digests = new Map()
      all.push({ name: dnfName(rpm, native), version: rpm.version, digests })
    } else if (digest !== '') digests.set(path, digest)
  }
  return all
}
