// How a host differs from its desired state, item by item. The proof after the work, and what drift is.

import type { DesiredState } from '../../../api/desired-state.ts'
import { type Level, unitsLevel } from '../../../core/profile/disturbance.ts'
import { fileDifference } from '../files/managed-file.ts'
import { readSysctl, sysctlDifference } from '../sysctls/sysctl.ts'
import { lookAtUnit, unitDifference } from '../units/systemd-unit.ts'
import { placedFile, type Site } from './site.ts'

export interface Difference {
  /** As in reasons: `file /etc/motd`. */
  readonly item: string
  readonly message: string
  /** What putting it right would do to the node. */
  readonly level: Level
}

export async function fileDifferences(
  site: Site,
  { files }: Pick<DesiredState, 'files'>,
): Promise<readonly Difference[]> {
  const found: Difference[] = []
  for (const file of files) {
    const message = await fileDifference(site.host.files, await placedFile(site, file))
    if (message !== undefined) found.push({ item: `file ${file.path}`, message, level: unitsLevel(file.restarts) })
  }
  return found
}

export async function sysctlDifferences(
  { host }: Site,
  { sysctls }: Pick<DesiredState, 'sysctls'>,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  const found: Difference[] = []
  for (const { key, value } of sysctls) {
    const message = sysctlDifference(key, value, await readSysctl(host, key, signal))
    if (message !== undefined) found.push({ item: `sysctl ${key}`, message, level: 'None' })
  }
  return found
}

export async function unitDifferences(
  { host }: Site,
  { units }: Pick<DesiredState, 'units'>,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  const found: Difference[] = []
  for (const unit of units) {
    const message = unitDifference(unit, await lookAtUnit(host, unit.name, signal))
    if (message !== undefined) found.push({ item: `unit ${unit.name}`, message, level: unitsLevel([unit.name]) })
  }
  return found
}

/** Files, sysctls and units: what the agent puts right by itself. */
export async function settingDifferences(
  site: Site,
  target: DesiredState,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  return [
    ...(await fileDifferences(site, target)),
    ...(await sysctlDifferences(site, target, signal)),
    ...(await unitDifferences(site, target, signal)),
  ]
}

export function inWords(differences: readonly Difference[]): string | undefined {
  const [first, ...more] = differences
  return first && `${first.message}${more.length > 0 ? ` (and ${more.length} more)` : ''}`
}
