// Only dnf 4 is spoken with here. dnf 5 took its name over in Fedora 41: it keeps holds in another file, has other options and prints
// other words, so going on would pass over what a person holds back. yum 3 of Enterprise Linux 7 has neither `repoquery` nor
// `--destdir`: these belong to yum-utils there. Later yum is another name of dnf 4.

import type { Host } from '../../../ports/host.ts'
import type { StageResult } from '../package-manager.ts'
import { askMs, runTool } from '../run-tool.ts'

export interface OtherGeneration {
  readonly name: 'dnf' | 'yum'
  readonly version: string
}

/** The answer to `--version`: `dnf5 version 5.2.8.1` and more lines of 5; those of 4 and 3 begin with the number. */
export function otherGeneration(said: string): OtherGeneration | undefined {
  const [, five] = /^(?:dnf5 version )?(5\.[0-9.]+)/m.exec(said) ?? []
  if (five !== undefined) return { name: 'dnf', version: five }
  const [, three] = /^(3\.[0-9.]+)\s*$/m.exec(said) ?? []
  return three === undefined ? undefined : { name: 'yum', version: three }
}

export async function unlessOtherGeneration(
  host: Host,
  program: string,
  signal: AbortSignal,
  stage: () => Promise<StageResult>,
): Promise<StageResult> {
  const other = otherGeneration((await runTool(host, [program, '--version'], askMs, signal)).stdout)
  if (other === undefined) return await stage()
  const message = `the host has ${other.name} ${other.version}, and only dnf 4 is supported, also by its name yum: ${why[other.name]}; take packages out of the update or profile for such hosts, or change them by a script`
  return { ok: false, reason: { code: 'PackageManagerMissing', message } }
}

const why = {
  dnf: 'the holds of dnf 5 (/etc/dnf/versionlock.toml) would go unseen',
  yum: 'yum 3 has neither repoquery nor --destdir, by which packages are looked up and fetched ahead',
} as const
