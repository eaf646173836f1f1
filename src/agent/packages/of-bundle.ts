import type { Reason } from '../../api/reason.ts'
import type { PackageManager, PackageSources, StageResult } from './package-manager.ts'
import { lacking } from './package-reasons.ts'

/** The same package manager; what a bundle lacks is told as such, since no repository on the host can be blamed. */
export function tellingOfBundles(manager: PackageManager): PackageManager {
  return {
    ...manager,
    stage: async (request, signal) => told(request.sources, await manager.stage(request, signal)),
    stageUpgrade: async (request, signal) => told(request.sources, await manager.stageUpgrade(request, signal)),
    stageReturn: async (staged, request, signal) =>
      told(request.sources, await manager.stageReturn(staged, request, signal)),
  }
}

function told({ from }: PackageSources, result: StageResult): StageResult {
  return from === 'Host' || result.ok ? result : { ok: false, reason: ofBundle(result.reason) }
}

function ofBundle(reason: Reason): Reason {
  switch (reason.code) {
    case 'VersionUnknown':
      return { code: 'BundleIncomplete', message: reason.message.replace(lacking, 'the bundle does not hold') }
    case 'PackageConflict':
      return { code: 'BundleIncomplete', message: `from the bundle alone, ${reason.message}` }
    default:
      return reason
  }
}
