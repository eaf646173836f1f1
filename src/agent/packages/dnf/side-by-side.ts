// Packages of which several versions are installed on purpose: kernels and what belongs to each. Packagers mark them by what they
// provide; older ones are known to dnf and yum by name only.

import type { StagedPackage, StagedRemoval } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { installedVersions } from '../match-version.ts'
import type { InstalledPackage } from '../package-manager.ts'

/** Besides the names these are dnf's own `installonlypkgs`. */
const ownMarks = [
  'installonlypkg(kernel)',
  'installonlypkg(kernel-module)',
  'installonlypkg(vm)',
  'multiversion(kernel)',
] as const

/** yum 3 reads the second one, which is a link to the first elsewhere. */
const settings = ['/etc/dnf/dnf.conf', '/etc/yum.conf']

const kernels =
  /^kernel(-(core|uki|modules|devel|source|smp|bigmem|enterprise|unsupported|PAE|debug|rt|64k|uek|ml|lt)\b.*)?$/
/** There is one of these for all kernels. */
const single = /-(headers|tools|tools-libs|tools-libs-devel|doc|firmware|debuginfo.*)$/

/** What a host sets is added to dnf's own. */
export async function sideBySideMarks({ files }: Pick<Host, 'files'>): Promise<readonly string[]> {
  const texts = await Promise.all(settings.map((path) => files.read(path)))
  return [...new Set([...ownMarks, ...texts.flatMap((text) => parseInstallOnly(text ?? ''))])]
}

function parseInstallOnly(text: string): readonly string[] {
  const [, value = ''] = /^installonlypkgs[ \t]*=(.*(?:\n[ \t]+.*)*)/m.exec(text) ?? []
  return value
    .replace(/^[ \t]*[#;].*$/gm, '')
    .split(/[\s,]+/)
    .filter((mark) => mark !== '')
}

export function isSideBySide(name: string, provides: readonly string[], marks: readonly string[]): boolean {
  if (name === 'gpg-pubkey' || (kernels.test(name) && !single.test(name))) return true
  return provides.some((provided) => marks.some((mark) => provided.split(' ')[0] === mark))
}

/** The answer to `rpm -q --whatprovides` with one name a line; what nothing provides it says in a sentence. */
export function parseProviders(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').filter((line) => /^\S+$/.test(line)))
}

/** The way back from what comes beside others: they are there still, so it alone goes. */
export function besideRemovals(
  changed: readonly StagedPackage[],
  installed: ReadonlyMap<string, InstalledPackage>,
): readonly StagedRemoval[] {
  return changed.flatMap(({ name, version, architecture, sideBySide }) => {
    if (!sideBySide || installedVersions(installed.get(name)).includes(version)) return []
    const only = `${plainName({ name, architecture })}-${version.replace(/^[0-9]+:/, '')}.${architecture}`
    return [{ name, previous: version, purge: true, only }]
  })
}

/** The name without the architecture that dnf adds to a foreign one. */
export function plainName({ name, architecture }: Pick<InstalledPackage, 'name' | 'architecture'>): string {
  return name.endsWith(`.${architecture}`) ? name.slice(0, -architecture.length - 1) : name
}
