import type { DesiredState } from '../../api/desired-state.ts'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type Level, unitsLevel } from '../../core/profile/disturbance.ts'
import { isSysctlFile } from '../../core/profile/wishes.ts'
import { fileDifference } from '../drivers/files/managed-file.ts'
import { settingDifferences } from '../drivers/profile/differences.ts'
import { argumentChange, type FindKernelArguments } from '../drivers/profile/kernel-arguments-work.ts'
import { packageDifferences } from '../drivers/profile/package-request.ts'
import { wantedRepositories } from '../drivers/profile/package-work.ts'
import { applySettings } from '../drivers/profile/settings.ts'
import type { Site } from '../drivers/profile/site.ts'
import { packageManagerOf } from '../packages/find-package-manager.ts'

export interface DriftTools {
  readonly findKernelArguments: FindKernelArguments
}

export interface Finding {
  readonly item: string
  readonly reason: Reason
  readonly level: Level
  /** A setting is put right at once; packages, repositories and kernel arguments need an order. */
  readonly kind: 'Setting' | 'Package'
}

/** What is not as wanted. What cannot be looked at is a finding too: nobody may take it for being in order. */
export async function findDrift(
  site: Site,
  target: DesiredState,
  tools: DriftTools,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const parts = [
    { of: 'settings', kind: 'Setting', look: () => settingDifferences(site, target, signal) },
    { of: 'restarts', kind: 'Setting', look: () => restartsOwed(site) },
    { of: 'repositories', kind: 'Package', look: () => repositoryDrift(site, target, signal) },
    { of: 'packages', kind: 'Package', look: () => packageDrift(site, target, signal) },
    { of: 'kernel arguments', kind: 'Package', look: () => argumentDrift(site, target, tools, signal) },
  ] as const
  const found: Finding[] = []
  for (const { of, kind, look } of parts) {
    try {
      for (const { item, message, level } of await look()) found.push({ item, level, kind, reason: reasonOf(message) })
    } catch (error) {
      if (signal.aborted) throw error
      const message = `the ${of} cannot be looked at: ${error instanceof Error ? error.message : String(error)}`
      const reason = error instanceof SlipwayError && error.code === 'SecretUnreadable' ? error.code : 'Drifted'
      found.push({ item: of, level: 'Drain', kind, reason: { code: reason, message: message.slice(0, 1000) } })
    }
  }
  return found
}

/** Puts the found settings right, and nothing else: what a failed order still has to restart may need a drain. */
export async function repairDrift(
  site: Site,
  target: DesiredState,
  found: readonly Finding[],
  signal: AbortSignal,
): Promise<void> {
  const items = new Set(found.map(({ item }) => item))
  await applySettings(
    site,
    {
      ...target,
      // A kernel setting is loaded from its file.
      files: target.files.filter(({ path }) => items.has(`file ${path}`) || isSysctlFile(path)),
      units: target.units.filter(({ name }) => items.has(`unit ${name}`)),
      sysctls: target.sysctls.filter(({ key }) => items.has(`sysctl ${key}`)),
    },
    (unit) => unitsLevel([unit]) === 'None',
    signal,
  )
}

/** A host as wanted to look at, with programs that run on what was there before. */
async function restartsOwed({ record }: Site) {
  const { reload, restarts } = (await record.load()).pending
  return [
    ...(reload
      ? [{ item: 'systemd', message: 'systemd has not read its changed unit files yet', level: 'None' as const }]
      : []),
    ...restarts.map((unit) => ({
      item: `restart of ${unit}`,
      message: `${unit} was not restarted since a file it reads changed`,
      level: unitsLevel([unit]),
    })),
  ]
}

async function repositoryDrift({ host }: Site, target: DesiredState, signal: AbortSignal) {
  const found = []
  for (const file of await wantedRepositories(host, target, signal)) {
    const message = await fileDifference(host.files, file)
    if (message !== undefined) found.push({ item: `file ${file.path}`, message, level: 'None' as const })
  }
  return found
}

async function packageDrift({ host }: Site, target: DesiredState, signal: AbortSignal) {
  if (target.packages.length === 0) return []
  const manager = await packageManagerOf(host, signal)
  const names = target.packages.map(({ name }) => name)
  return packageDifferences(target, (await manager?.installed(names, signal)) ?? new Map())
}

async function argumentDrift({ host, record }: Site, target: DesiredState, tools: DriftTools, signal: AbortSignal) {
  if (target.kernelArguments.length === 0) return []
  const present = (await (await tools.findKernelArguments(host, signal))?.list(signal)) ?? []
  const { add, remove } = argumentChange(target, await record.load(), present)
  return [
    ...add.map((argument) => ({ argument, message: `kernel argument ${argument} is not set` })),
    ...remove.map((argument) => ({ argument, message: `kernel argument ${argument} is set` })),
  ].map(({ argument, message }) => ({ item: `kernel argument ${argument}`, message, level: 'Reboot' as const }))
}

function reasonOf(message: string): Reason {
  return { code: 'Drifted', message }
}
