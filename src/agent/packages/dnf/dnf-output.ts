// What dnf 4 prints, as data, and what its failures mean. All of it was seen from dnf 4.14 in the locale C.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { compareRpmVersions } from '../../../core/packages/rpm-version.ts'
import type { CommandResult } from '../../../ports/host.ts'
import { diskTooFull, packageHeld } from '../package-reasons.ts'
import { failureText } from '../run-tool.ts'

const unitBytes: Readonly<Record<string, number>> = { k: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** `Total download size: 12 k`; 0 where it is not said. */
export function parseSize(text: string, label: 'Total download size' | 'Installed size'): number {
  const [, amount = '0', unit = ''] = new RegExp(`^${label}: ([0-9.]+) ?([kMG]?)`, 'm').exec(text) ?? []
  return Math.ceil(Number(amount) * (unitBytes[unit] ?? 1))
}

/** With `--assumeno` a transaction that could be done ends like a failure. */
export function isRefusedByUs({ stdout, stderr }: CommandResult): boolean {
  return `${stdout}\n${stderr}`.includes('Operation aborted.')
}

/** Names that would go along with what is removed. */
export function parseDependents(text: string): readonly string[] {
  const lines = text.split('\n')
  const start = lines.indexOf('Removing dependent packages:') + 1
  if (start === 0) return []
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith(' '))
  return lines.slice(start, end).flatMap((line) => line.trim().split(/\s+/).slice(0, 1))
}

/** Lines `name|version|…` of a repoquery: the versions of each, the newest first. dnf sorts them as text: 1.7.9 after 1.7.10. */
export function parseOffers(text: string): ReadonlyMap<string, readonly string[]> {
  const offers = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [name, version] = line.split('|')
    if (!name || !version) continue
    offers.set(name, (offers.get(name) ?? new Set()).add(version.replace(/^0:/, '')))
  }
  const newestFirst = (a: string, b: string) => compareRpmVersions(b, a)
  return new Map([...offers].map(([name, versions]) => [name, [...versions].sort(newestFirst)]))
}

const badSignature =
  /GPG check FAILED|GPG signature verification error|Bad GPG signature|is not signed|not correct for this package/
const missingRepository = /Status code: (403|404|410) for \S+repomd\.xml/
const diskFull = /No space left on device|At least \S+ more space needed|not enough free space/i

/** From anything that reads repositories or downloads. What may pass is thrown. */
export function fetchFailure(result: CommandResult): Reason {
  const said = `${result.stdout}\n${result.stderr}`
  const text = failureText(result)
  if (diskFull.test(said)) return diskTooFull(text)
  if (badSignature.test(said)) {
    return { code: 'RepositoryUntrusted', message: `a repository or package is not signed by its key: ${text}` }
  }
  if (missingRepository.test(said)) {
    return { code: 'RepositoryMissing', message: `a repository is not where the host looks for it: ${text}` }
  }
  throw new SlipwayError('StagingFailed', `cannot fetch packages: ${text}`)
}

/** From a simulation: `held` are the packages a person holds. */
export function solveFailure(result: CommandResult, held: readonly string[]): Reason {
  const said = `${result.stdout}\n${result.stderr}`
  if (/Failed to download metadata|Errors during downloading/.test(said)) return fetchFailure(result)
  const text = failureText(result)
  const inTheWay = held.filter((name) => said.includes(`${name}-`) || said.split(/[\s,]+/).includes(name))
  if (inTheWay.length > 0) return packageHeld(inTheWay, text)
  return { code: 'PackageConflict', message: `the packages cannot be installed together: ${text}` }
}
