import type { Host } from '../../../ports/host.ts'
import type { PackageManager, RepositorySwitch } from '../package-manager.ts'
import { unlessDiskFull } from '../package-reasons.ts'
import { aptRepositoryFiles } from '../repository-files.ts'
import { switchesTo } from '../repository-switches.ts'
import { whatDiffers } from '../what-differs.ts'
import { aptJobArgv, isUnfinished } from './apt-job.ts'
import { aptSources } from './apt-parts.ts'
import { stageApt, stageAptReturn, stageAptUpgrade } from './apt-stage.ts'
import { readDpkgStatus } from './dpkg-status.ts'

export function aptPackageManager(host: Host): PackageManager {
  return {
    kind: 'apt',
    installed: async (names, signal) => {
      const status = await readDpkgStatus(host, signal)
      return names === 'All' ? status : new Map([...status].filter(([name]) => names.includes(name)))
    },
    stage: (request, signal) => unlessDiskFull(() => stageApt(host, request, signal)),
    stageUpgrade: (request, signal) => unlessDiskFull(() => stageAptUpgrade(host, request, signal)),
    stageReturn: (staged, request, signal) => unlessDiskFull(() => stageAptReturn(host, staged, request, signal)),
    jobArgv: aptJobArgv,
    missing: async (staged, signal) => {
      const differs = whatDiffers(staged, await readDpkgStatus(host, signal))
      if (differs !== undefined) return differs
      if (await isUnfinished(host, staged))
        return 'the transaction was cut off before all that it installed was on the disk'
      const { stdout } = await host.run({ argv: ['dpkg', '--audit'], env: { LC_ALL: 'C' } }, signal)
      return stdout.trim() === '' ? undefined : `dpkg --audit says: ${stdout.trim().slice(0, 1000)}`
    },
    kubernetesRepositories: (minor, signal) => kubernetesSources(host, minor, signal),
    repositoryFiles: aptRepositoryFiles,
  }
}

async function kubernetesSources(
  host: Host,
  minor: { readonly major: number; readonly minor: number },
  signal: AbortSignal,
): Promise<readonly RepositorySwitch[]> {
  const main = '/etc/apt/sources.list'
  const content = await host.files.read(main)
  const files = [...(content === undefined ? [] : [{ path: main, content }]), ...(await aptSources(host, signal))]
  return switchesTo(files, minor)
}
