// dnf 5 took dnf's name over in Fedora 41. It keeps holds in another file, has other options and prints other words: going on would
// pass over what a person holds back.

import type { Reason } from '../../../api/reason.ts'
import type { Host } from '../../../ports/host.ts'
import type { StageResult } from '../package-manager.ts'
import { askMs, runTool } from '../run-tool.ts'

/** The answer to `--version`: `dnf5 version 5.2.8.1` and more lines of 5; that of 4 begins with the number. */
export function dnf5Version(said: string): string | undefined {
  const [, version] = /^(?:dnf5 version )?(5\.[0-9.]+)/m.exec(said) ?? []
  return version
}

export async function unlessDnf5(
  host: Host,
  program: string,
  signal: AbortSignal,
  stage: () => Promise<StageResult>,
): Promise<StageResult> {
  const version = dnf5Version((await runTool(host, [program, '--version'], askMs, signal)).stdout)
  return version === undefined ? await stage() : { ok: false, reason: refusal(version) }
}

function refusal(version: string): Reason {
  return {
    code: 'PackageManagerMissing',
    message: `the host has dnf ${version}, and only dnf 4 and yum are supported: the holds of dnf 5 (/etc/dnf/versionlock.toml) would go unseen; take packages out of the update or profile for such hosts, or change them by a script`,
  }
}
