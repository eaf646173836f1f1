// What dpkg says is installed.

import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { InstalledPackage } from '../package-manager.ts'
import { failureText } from '../run-tool.ts'

export interface DpkgPackage extends InstalledPackage {
  /** `dpkg --configure -a` can finish it; anything else that is not whole needs its file again. */
  readonly configurable: boolean
}

/** By the name apt uses: `name`, or `name:arch` for a foreign architecture. */
export type DpkgStatus = ReadonlyMap<string, DpkgPackage>

const format = ['Package', 'Version', 'Architecture', 'db:Status-Want', 'db:Status-Eflag', 'db:Status-Status'].map(
  (field) => `\${${field}}`,
)
const query = ['dpkg-query', '--show', '--showformat', `${format.join('\\t')}\\n`]
const manyBytes = 32 * 1024 * 1024

export async function readDpkgStatus(host: Host, signal: AbortSignal): Promise<DpkgStatus> {
  const env = { LC_ALL: 'C' }
  const native = await host.run({ argv: ['dpkg', '--print-architecture'], env }, signal)
  const listed = await host.run({ argv: query, env, outputBytes: manyBytes }, signal)
  for (const result of [native, listed]) {
    if (result.exitCode !== 0) throw new SlipwayError('StepFailed', `dpkg cannot be asked: ${failureText(result)}`)
  }
  return parseDpkgStatus(listed.stdout, native.stdout.trim())
}

export function parseDpkgStatus(text: string, native: string): DpkgStatus {
  const packages = new Map<string, DpkgPackage>()
  for (const line of text.split('\n')) {
    const [name, version, architecture, want, flag, state] = line.split('\t')
    if (name === undefined || version === undefined || architecture === undefined || state === undefined) continue
    if (version === '' || state === 'not-installed' || state === 'config-files') continue
    packages.set(aptName(name, architecture, native), {
      name,
      version,
      architecture,
      held: want === 'hold',
      whole: flag === 'ok' && state === 'installed',
      configurable: flag === 'ok' && state !== 'half-installed',
    })
  }
  return packages
}

function aptName(name: string, architecture: string, native: string): string {
  return architecture === native || architecture === 'all' ? name : `${name}:${architecture}`
}
