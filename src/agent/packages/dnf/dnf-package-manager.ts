import type { Host } from '../../../ports/host.ts'
import { switchesTo } from '../kubernetes-repository.ts'
import type { PackageManager } from '../package-manager.ts'
import { unlessDiskFull } from '../package-reasons.ts'
import { dnfRepositoryFiles } from '../repository-files.ts'
import { whatDiffers } from '../what-differs.ts'
import { repositoriesOf } from './dnf-folder.ts'
import { dnfJobArgv, isUnfinished } from './dnf-job.ts'
import { stageDnf, stageDnfReturn, stageDnfUpgrade } from './dnf-stage.ts'
import { readRpmStatus } from './rpm-status.ts'

/** `program` is dnf, or yum where that is the only name it has. */
export function dnfPackageManager(host: Host, program: 'dnf' | 'yum'): PackageManager {
  return {
    kind: 'dnf',
    installed: async (names, signal) => {
      const status = await readRpmStatus(host, signal)
      return names === 'All' ? status : new Map([...status].filter(([name]) => names.includes(name)))
    },
    stage: (request, signal) => unlessDiskFull(() => stageDnf(host, program, request, signal)),
    stageUpgrade: (request, signal) => unlessDiskFull(() => stageDnfUpgrade(host, program, request, signal)),
    stageReturn: (staged, request, signal) =>
      unlessDiskFull(() => stageDnfReturn(host, program, staged, request, signal)),
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
