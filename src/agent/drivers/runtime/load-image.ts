import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StepContext } from '../driver.ts'
import { type LongWorkEnd, longWork } from '../long-work.ts'

const loadMs = 20 * 60_000

/** Gives an image archive on the host's disk to containerd; the reason where it never can be, StagingFailed where it may yet. */
export async function loadImage(
  context: StepContext,
  archive: string,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const argv = ['ctr', '--namespace=k8s.io', 'images', 'import', archive]
  return judgeLoad(archive, await longWork(context, { name: 'load-image', argv, timeoutMs: loadMs }, signal))
}

export function judgeLoad(archive: string, { exitCode, output }: LongWorkEnd): Reason | undefined {
  if (exitCode === 0) return undefined
  const said = output.trim().slice(-400)
  if (exitCode === 127) {
    return { code: 'ToolMissing', message: `the images of the bundle need containerd’s ctr, which is not on this host` }
  }
  const message = `${archive} could not be given to containerd: ${said}`
  if (/no space left on device/i.test(said)) return { code: 'DiskTooFull', message }
  if (/connection refused|no such file or directory|connection error|unavailable|deadline exceeded/i.test(said)) {
    throw new SlipwayError('StagingFailed', message)
  }
  return { code: 'BundleBroken', message }
}
