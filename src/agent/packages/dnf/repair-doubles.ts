// What an interrupted transaction of dnf or rpm leaves: packages that are in the rpm database in two versions. Nobody can tell whether
// the scriptlets of the newer one ran to their end. So one of the two is fetched again while the node still works, as `dnf remove
// --duplicates` does it, and the job installs it over both: that runs its scriptlets and takes the other one out.
//
// What is asked for is repaired or refused. Other packages are repaired where they can be; dnf works beside those that cannot: no
// repository has them any more, they cannot be fetched, rpm refuses them, a person holds them back, or the work is not to touch them. That
// is so for all of them on a node at work, and always for Kubernetes, its runtime and etcd. Kernels are in several versions on purpose.
// So are packages that a person installed side by side: what nobody asked for is repaired on evidence only.
//
// Not repaired is what rpm does not tell: a package that was new, whose scriptlet was cut off, and files that were written before the
// version was. dnf 4 keeps no list of what an interrupted transaction had still to do.

import type { Reason } from '../../../api/reason.ts'
import type { StagedPackage } from '../../../api/staged-packages.ts'
import { keptFromSystem } from '../../../core/kubernetes/component-packages.ts'
import { pickVersion } from '../match-version.ts'
import type { Repairs, WantedPackage } from '../package-manager.ts'
import type { RpmStatus } from './rpm-status.ts'
import { plainName } from './side-by-side.ts'

export interface Double {
  readonly name: string
  readonly architecture: string
  /** The version that stays: of those that are there, the newest that was asked for. */
  readonly keep: string
  readonly asked: boolean
}

/** `settled` are those that the work replaces, removes, or is not to touch. */
export function doublesOf(
  status: RpmStatus,
  wanted: readonly WantedPackage[],
  settled: ReadonlySet<string>,
): readonly Double[] {
  return [...status.values()].flatMap(({ name, architecture, version, leftOver }) => {
    if (leftOver === undefined || settled.has(name)) return []
    const wish = wanted.find((each) => each.name === name)
    const keep = wish?.version === undefined ? version : (pickVersion([version, ...leftOver], wish.version) ?? version)
    return [{ name, architecture, keep, asked: wish !== undefined }]
  })
}

interface UnaskedRepairs {
  readonly along: readonly Double[]
  /** Of what is left for other work. */
  readonly warnings: readonly string[]
}

/** The version of what runs the node is decided by work that names it, and what nobody named may disturb the node. */
export function unaskedRepairs(doubles: readonly Double[], repairs: Repairs): UnaskedRepairs {
  const unasked = doubles.filter(({ asked }) => !asked)
  const kept = unasked.filter((each) => keptFromSystem.includes(plainName(each)))
  const others = unasked.filter((each) => !kept.includes(each))
  const waiting = repairs === 'Asked' ? others : []
  return {
    along: repairs === 'Asked' ? [] : others,
    warnings: [
      ...doubled(kept, 'which only work on these packages repairs'),
      ...doubled(waiting, 'which only work on a drained node repairs'),
    ],
  }
}

/** What came with the others is told: nobody asked for it. */
export function repairedAlong(along: readonly Double[], packages: readonly StagedPackage[]): readonly string[] {
  const repaired = along.filter((double) => packages.some(({ name }) => name === double.name))
  return doubled(repaired, 'which this work repairs along')
}

function doubled(doubles: readonly Double[], whatOfThem: string): readonly string[] {
  if (doubles.length === 0) return []
  const names = doubles.slice(0, 10).map(({ name }) => name)
  const more = doubles.length > names.length ? ` and ${doubles.length - names.length} more` : ''
  return [`an interrupted transaction left several versions of ${names.join(', ')}${more}, ${whatOfThem}`]
}

/** dnf passes over what is not on offer, and fails where nothing is. */
export function repairCommand(doubles: readonly Double[], untouched: readonly string[]): readonly string[] {
  const specs = doubles.map((each) => `${plainName(each)}-${each.keep}.${each.architecture}`)
  return ['reinstall', ...(untouched.length > 0 ? [`--exclude=${untouched.join(',')}`] : []), ...specs]
}

/** dnf cannot do it; anything else has a reason of its own. */
export function isOfSolver({ code }: Reason): boolean {
  return code === 'PackageConflict' || code === 'PackageHeld'
}

/** Whether the job can do it, asked of rpm, which changes nothing. Two versions in one transaction are refused here too. */
export function repairTest(packages: readonly StagedPackage[]): readonly string[] {
  const files = packages.flatMap(({ file, sideBySide }) => (file && !sideBySide ? [file] : []))
  const beside = packages.some(({ sideBySide }) => sideBySide) ? ['--nodeps'] : []
  return ['rpm', '-U', '--test', ...beside, '--oldpackage', '--replacepkgs', '--replacefiles', ...files]
}

export function leftBroken(
  program: string,
  left: readonly { readonly name: string }[],
  why: string | undefined,
): Reason {
  const names = left.map(({ name }) => name).join(', ')
  const said = why ?? 'the repositories do not offer the version that is to stay'
  return {
    code: 'PackagesBroken',
    message: `an interrupted transaction left several versions of ${names}, and this work cannot repair that: ${said}; look with "${program} check" and keep one of them by hand ("${program} remove --duplicates --disableexcludes=all")`,
  }
}
