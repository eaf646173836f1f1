// What a failure of apt means: can it never work, or may it pass?

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { CommandResult } from '../../../ports/host.ts'
import type { PackageSources } from '../package-manager.ts'
import { diskTooFull, packageHeld } from '../package-reasons.ts'
import { failureText } from '../run-tool.ts'

const badSignature =
  /NO_PUBKEY|BADSIG|EXPKEYSIG|EXPSIG|REVKEYSIG|is not signed|invalid signature|GPG error|couldn't be verified|cannot be authenticated|No good signature/
const missingRepository = /does not have a Release file|no longer has a Release file/
const diskFull = /No space left on device|don't have enough free space|not enough space/i
/** A page of a captive portal or a broken proxy looks like a bad signature, and passes. */
const notEvenAnIndex = /NOSPLIT|NODATA|does the network require authentication/

/**
 * From `apt-get update`. Old versions of apt end well although an index was not fetched: what they say counts, but for a
 * bundle, whose signature nobody looks at.
 */
export function updateFailure(result: CommandResult, from: PackageSources['from']): Reason | undefined {
  const said = `${result.stdout}\n${result.stderr}`
  const complains = from === 'Host' && /^[EW]: (Failed to fetch|Some index files failed|GPG error)/m.test(said)
  if (result.exitCode === 0 && !complains) return undefined
  const text = failureText(result)
  if (diskFull.test(said)) return diskTooFull(text)
  if (badSignature.test(said) && !notEvenAnIndex.test(said)) {
    return { code: 'RepositoryUntrusted', message: `a repository is not signed by its key: ${text}` }
  }
  if (missingRepository.test(said) && /\b40[34] /.test(said)) {
    return { code: 'RepositoryMissing', message: `a repository is not where the host looks for it: ${text}` }
  }
  throw new SlipwayError('StagingFailed', `cannot read the package repositories: ${text}`)
}

/** From the simulation of a transaction: `held` are the packages a person holds. */
export function solveFailure(result: CommandResult, held: readonly string[]): Reason {
  const said = `${result.stdout}\n${result.stderr}`
  const unmet = said.slice(Math.max(0, said.indexOf('The following packages have unmet dependencies')))
  const text = unmet.trim().slice(0, 1500)
  const inTheWay = held.filter((name) => unmet.split(/[\s:,()]+/).includes(name))
  if (inTheWay.length > 0 && /unmet dependencies/.test(said)) return packageHeld(inTheWay, text)
  return { code: 'PackageConflict', message: `the packages cannot be installed together: ${text}` }
}

/** From the download. What has a wrong hash is thrown away; a mirror that was just being renewed has the right one next time. */
export function downloadFailure(result: CommandResult): Reason {
  const text = failureText(result)
  if (diskFull.test(`${result.stdout}\n${result.stderr}`)) return diskTooFull(text)
  throw new SlipwayError('StagingFailed', `cannot download the packages: ${text}`)
}
