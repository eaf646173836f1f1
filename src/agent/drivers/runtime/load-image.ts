import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { CommandResult, Host } from '../../../ports/host.ts'

const loadMs = 20 * 60_000

/** Gives an image archive on the host's disk to containerd; the reason where it never can be, StagingFailed where it may yet. */
export async function loadImage(host: Host, archive: string, signal: AbortSignal): Promise<Reason | undefined> {
  const argv = ['ctr', '--namespace=k8s.io', 'images', 'import', archive]
  return judgeLoad(archive, await host.run({ argv, timeoutMs: loadMs }, signal))
}

export function judgeLoad(archive: string, { exitCode, stdout, stderr }: CommandResult): Reason | undefined {
  if (exitCode === 0) return undefined
  const said = `${stderr}\n${stdout}`.trim().slice(-400)
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
