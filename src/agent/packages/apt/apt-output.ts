// What apt-get and apt-cache print, as data. All of it was seen from apt 2.6 in the locale C.

export interface Installation {
  /** As apt names it: with `:arch` for a foreign architecture. */
  readonly name: string
  readonly previous: string | undefined
  readonly version: string
  readonly architecture: string
  /** Where this version is from: `Debian-Security:12/stable-security`, or a host name. */
  readonly origins: readonly string[]
}

export interface Simulation {
  readonly installations: readonly Installation[]
  readonly removals: readonly string[]
  readonly keptBack: readonly string[]
}

const installLine = /^Inst (\S+) (?:\[(\S+)\] )?\((\S+) (?:(.*) )?\[(\S+)\]\)/

export function parseSimulation(text: string): Simulation {
  const installations: Installation[] = []
  const removals: string[] = []
  for (const line of text.split('\n')) {
    const [, name, previous, version, origins = '', architecture] = installLine.exec(line) ?? []
    if (name !== undefined && version !== undefined && architecture !== undefined) {
      installations.push({ name, previous, version, architecture, origins: origins.split(', ').filter(Boolean) })
    }
    const removal = /^(?:Remv|Purg) (\S+)/.exec(line)?.[1]
    if (removal !== undefined) removals.push(removal)
  }
  return { installations, removals, keptBack: namesUnder(text, 'The following packages have been kept back:') }
}

/** Names in the indented lines that follow a heading. */
function namesUnder(text: string, heading: string): readonly string[] {
  const lines = text.split('\n')
  const start = lines.indexOf(heading) + 1
  if (start === 0) return []
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('  '))
  return lines.slice(start, end < 0 ? undefined : end).flatMap((line) => line.trim().split(' '))
}

export interface Download {
  readonly fileName: string
  readonly bytes: number
  readonly sha256: string
}

/** From `--print-uris` with `Acquire::ForceHash=SHA256`. */
export function parseDownloads(text: string): readonly Download[] {
  return [...text.matchAll(/^'[^']+' (\S+) ([0-9]+) SHA256:([0-9a-f]{64})$/gm)].map(
    ([, fileName = '', bytes = '', sha256 = '']) => ({ fileName, bytes: Number(bytes), sha256 }),
  )
}

/** How apt calls the file of a package in its archives. */
export function archiveName({ name, version, architecture }: Installation): string {
  const [plain] = name.split(':')
  return `${plain}_${version.replaceAll(':', '%3a')}_${architecture}.deb`
}

const unitBytes: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }

/** Bytes the installed files will take more than now; 0 where they take less. */
export function parseGrowth(text: string): number {
  const [, amount = '0', unit = 'B'] =
    /After this operation, ([0-9.,]+) ([kMG]?B) of additional disk space/.exec(text) ?? []
  return Math.ceil(Number(amount.replaceAll(',', '')) * (unitBytes[unit] ?? 1))
}

/** From `apt-cache madison`: each package's versions on offer, the newest first. */
export function parseOffers(text: string): ReadonlyMap<string, readonly string[]> {
  const offers = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [name, version] = line.split(' | ').map((part) => part.trim())
    if (!name || !version) continue
    const known = offers.get(name) ?? []
    if (!known.includes(version)) known.push(version)
    offers.set(name, known)
  }
  return offers
}
