// The end of an order: repositories nothing needs any more go, and the record says what is applied and managed now.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { AppliedState, ProfileRecord } from '../../../api/profile-record.ts'
import { canonicalJson } from '../../../core/fingerprint.ts'
import { obsolete, wantedRepositories } from './package-work.ts'
import { retireFiles } from './retire.ts'
import type { Site } from './site.ts'

export async function finish(site: Site, target: DesiredState, applied: AppliedState | undefined, signal: AbortSignal) {
  const repositories = await wantedRepositories(site.host, target, signal)
  const paths = repositories.map(({ path }) => path)
  await retireFiles(site, obsolete(await site.record.load(), paths), signal)
  await site.record.save(settled(await site.record.load(), target, applied))
}

/** The record as it should be once the host is as the target wants it. */
export function settled(record: ProfileRecord, target: DesiredState, applied: AppliedState | undefined): ProfileRecord {
  const packages = new Map(target.packages.map((one) => [one.name, one]))
  const files = new Map(target.files.map((one) => [one.path, one]))
  const { applied: _, ...rest } = record
  return {
    ...rest,
    ...(applied && { applied }),
    files: record.files.map((file) => {
      const wish = files.get(file.path)
      return { ...file, ...(wish && { whenRemoved: wish.whenRemoved, restarts: wish.restarts }) }
    }),
    units: record.units.map((unit) => {
      const wish = target.units.find(({ name }) => name === unit.name)
      return { ...unit, whenRemoved: wish?.whenRemoved ?? unit.whenRemoved }
    }),
    sysctls: record.sysctls.map((one) => {
      const wish = target.sysctls.find(({ key }) => key === one.key)
      return { ...one, whenRemoved: wish?.whenRemoved ?? one.whenRemoved }
    }),
    // What came along stays known as long as one of those that were asked for is.
    packages: record.packages
      .filter(({ name, wanted }) => packages.has(name) || (!wanted && packages.size > 0))
      .map((one) => ({ ...one, whenRemoved: packages.get(one.name)?.whenRemoved ?? one.whenRemoved })),
    kernelArguments: record.kernelArguments.flatMap((one) => {
      const wish = target.kernelArguments.find(({ argument }) => argument === one.argument)
      return wish ? [{ ...one, whenRemoved: wish.whenRemoved }] : []
    }),
  }
}

export function isSettled(record: ProfileRecord, target: DesiredState, applied: AppliedState | undefined): boolean {
  return canonicalJson(settled(record, target, applied)) === canonicalJson(record)
}
