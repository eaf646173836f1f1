// What the rpm database says is installed, and what dnf's versionlock holds.

import { SlipwayError } from '../../../api/slipway-error.ts'
import { compareRpmVersions } from '../../../core/packages/rpm-version.ts'
import type { Host } from '../../../ports/host.ts'
import type { InstalledPackage } from '../package-manager.ts'
import { failureText } from '../run-tool.ts'
import { isSideBySide, parseProviders, sideBySideMarks } from './side-by-side.ts'
import { isLockOf, parseLocks } from './version-locks.ts'

export interface RpmPackage extends InstalledPackage {
  /** The older versions that an interrupted transaction left beside it. */
  readonly leftOver?: readonly string[]
}

/** By the name dnf uses: `name`, or `name.arch` for a foreign architecture. */
export type RpmStatus = ReadonlyMap<string, RpmPackage>

export const rpmFormat = '%{name}\\t%{epochnum}:%{version}-%{release}\\t%{arch}\\n'
export const lockList = '/etc/dnf/plugins/versionlock.list'
const manyBytes = 32 * 1024 * 1024

export async function readRpmStatus(host: Host, signal: AbortSignal): Promise<RpmStatus> {
  const env = { LC_ALL: 'C' }
  const native = await host.run({ argv: ['rpm', '--eval', '%_arch'], env }, signal)
  const listed = await host.run({ argv: ['rpm', '-qa', '--qf', rpmFormat], env, outputBytes: manyBytes }, signal)
  if (native.exitCode !== 0) throw new SlipwayError('StepFailed', `rpm cannot be asked: ${failureText(native)}`)
  if (listed.exitCode !== 0) throw unreadable(failureText(listed))
  const locks = parseLocks((await host.files.read(lockList)) ?? '')
  // It ends with an error where one of the marks is nowhere, which is usual.
  const marked = await host.run(
    { argv: ['rpm', '-q', '--qf', '%{name}\\n', '--whatprovides', ...(await sideBySideMarks(host))], env },
    signal,
  )
  return parseRpmStatus(listed.stdout, native.stdout.trim(), locks, parseProviders(marked.stdout))
}

/** Never rebuilt by the agent: what cannot be read is left out then, and rpm forgets that it is installed. */
function unreadable(said: string): SlipwayError {
  const message = `the rpm database cannot be read, as after an interrupted transaction: ${said}; copy /var/lib/rpm, repair it by hand with "rpmdb --rebuilddb", and see with "rpm -qa" that no package is missing`
  return new SlipwayError('PackagesBroken', message)
}

export interface Rpm {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

/** Lines of `rpmFormat`; an epoch of 0 is not written, as people do not. */
export function parseRpms(text: string): readonly Rpm[] {
  return text.split('\n').flatMap((line) => {
    const [name, version, architecture] = line.split('\t')
    if (name === undefined || version === undefined || architecture === undefined) return []
    return [{ name, version: version.replace(/^0:/, ''), architecture }]
  })
}

export function dnfName({ name, architecture }: Rpm, native: string): string {
  return architecture === native || architecture === 'noarch' ? name : `${name}.${architecture}`
}

/**
 * Two versions of one package are what a cut-off transaction leaves, but for those that live side by side. rpm lists them in no
 * order.
 */
export function parseRpmStatus(
  text: string,
  native: string,
  locks: readonly string[],
  marked: ReadonlySet<string>,
): RpmStatus {
  const found = new Map<string, Rpm[]>()
  for (const rpm of parseRpms(text)) {
    const name = dnfName(rpm, native)
    found.set(name, [...(found.get(name) ?? []), rpm])
  }
  const packages = new Map<string, InstalledPackage>()
  for (const [name, rpms] of found) {
    const [newest, ...others] = rpms.toSorted((a, b) => compareRpmVersions(b.version, a.version))
    if (!newest) continue
    const older = others.map(({ version }) => version)
    const sideBySide = marked.has(newest.name) || isSideBySide(newest.name, [], [])
    packages.set(name, {
      ...newest,
      name,
      held: locks.some((lock) => isLockOf(lock, newest)),
      whole: older.length === 0 || sideBySide,
      ...(older.length > 0 && (sideBySide ? { olderVersions: older } : { leftOver: older })),
    })
  }
  return packages
}
