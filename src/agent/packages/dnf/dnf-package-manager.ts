import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { PackageManager, StageResult } from '../package-manager.ts'
import { unlessDiskFull } from '../package-reasons.ts'
import { dnfRepositoryFiles } from '../repository-files.ts'
import { switchesTo } from '../repository-switches.ts'
import { whatDiffers } from '../what-differs.ts'
import { repositoriesOf } from './dnf-folder.ts'
import { unlessOtherGeneration } from './dnf-generation.ts'
import { dnfJobArgv, isUnfinished } from './dnf-job.ts'
import { stageDnf, stageDnfReturn, stageDnfUpgrade } from './dnf-stage.ts'
import { readRpmStatus } from './rpm-status.ts'

/** `program` is dnf, or yum where dnf 4 has only that name. */
export function dnfPackageManager(host: Host, program: 'dnf' | 'yum'): PackageManager {
  const staging = (stage: () => Promise<StageResult>, signal: AbortSignal) =>
    unlessOtherGeneration(host, program, signal, () => unlessDiskFull(() => unlessUnreadable(stage)))
  return {
    kind: 'dnf',
    installed: async (names, signal) => {
      const status = await readRpmStatus(host, signal)
      return names === 'All' ? status : new Map([...status].filter(([name]) => names.includes(name)))
    },
    stage: (request, signal) => staging(() => stageDnf(host, program, request, signal), signal),
    stageUpgrade: (request, signal) => staging(() => stageDnfUpgrade(host, program, request, signal), signal),
    stageReturn: (staged, request, signal) =>
      staging(() => stageDnfReturn(host, program, staged, request, signal), signal),
    jobArgv: (staged) => dnfJobArgv(program, staged),
    missing: async (staged, signal) => {
      const differs = whatDiffers(staged, await readRpmStatus(host, signal))
      if (differs !== undefined) return differs
      return (await isUnfinished(host, staged)) ? 'the transaction was cut off, or a scriptlet failed in it' : undefined
    },
    kubernetesRepositories: async (minor, signal) => switchesTo(await repositoriesOf(host, signal), minor),
    repositoryFiles: dnfRepositoryFiles,
  }
}

async function unlessUnreadable(stage: () => Promise<StageResult>): Promise<StageResult> {
  try {
    return await stage()
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'PackagesBroken') throw error
    return { ok: false, reason: { code: error.code, message: error.message } }
  }
}
