import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { runtimeAt } from '../../../core/kubernetes/container-runtimes.ts'
import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { type LongWorkEnd, longWork } from '../long-work.ts'
import { runtimeEndpoint } from './image-store.ts'

const loadMs = 20 * 60_000

/** Gives an image archive on the host's disk to the container runtime; the reason where it never can be, StagingFailed where it may yet. */
export async function loadImage(
  context: StepContext,
  archive: string,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const [tool, ...words] = await loadCommand(context.host)
  const work = { name: 'load-image', argv: [tool, ...words, archive], timeoutMs: loadMs }
  return judgeLoad(archive, tool, await longWork(context, work, signal))
}

/** Each runtime has a store of its own: docker has containerd beside it, but keeps its images itself; podman's is cri-o's. */
async function loadCommand(host: Host): Promise<readonly [tool: string, ...words: string[]]> {
  switch (runtimeAt((await runtimeEndpoint(host)) ?? '')?.name) {
    case 'docker':
      return ['docker', 'load', '--input']
    case 'cri-o':
      return ['podman', 'load', '--input']
    default:
      return ['ctr', '--namespace=k8s.io', 'images', 'import']
  }
}

export function judgeLoad(archive: string, tool: string, { exitCode, output }: LongWorkEnd): Reason | undefined {
  if (exitCode === 0) return undefined
  const said = output.trim().slice(-400)
  if (exitCode === 127) {
    return { code: 'ToolMissing', message: `the images of the bundle need ${tool}, which is not on this host` }
  }
  const message = `${archive} could not be given to the container runtime by ${tool}: ${said}`
  if (/no space left on device/i.test(said)) return { code: 'DiskTooFull', message }
  if (
    /cannot connect|connection refused|no such file or directory|connection error|unavailable|deadline exceeded/i.test(
      said,
    )
  ) {
    throw new SlipwayError('StagingFailed', message)
  }
  return { code: 'BundleBroken', message }
}
