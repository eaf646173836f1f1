import type { DesiredState } from '../../../api/desired-state.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import type { Picture } from '../driver.ts'
import { readSysctl } from '../sysctls/sysctl.ts'
import { isActive, isEnabled, lookAtUnit } from '../units/systemd-unit.ts'
import type { FindKernelArguments } from './kernel-arguments-work.ts'
import { wantedRepositories } from './package-work.ts'
import type { Site } from './site.ts'

/** All that applying this state could change, as it is now. */
export async function pictureOf(
  { host, record }: Site,
  target: DesiredState,
  { findKernelArguments }: { readonly findKernelArguments: FindKernelArguments },
  signal: AbortSignal,
): Promise<Picture> {
  const known = await record.load()
  const repositories = await wantedRepositories(host, target, signal)
  const paths = [...known.files, ...target.files, ...repositories].map(({ path }) => path)
  const names = [...known.packages, ...target.packages].map(({ name }) => name)
  const manager = names.length > 0 ? await packageManagerOf(host, signal) : undefined
  const argumentsNamed = [...known.kernelArguments, ...target.kernelArguments].map(({ argument }) => argument)
  const present = argumentsNamed.length > 0 ? await (await findKernelArguments(host, signal))?.list(signal) : []
  return {
    files: await each(paths, async (path) => {
      const look = await host.files.look(path)
      if (look.kind !== 'file') return look
      const { mode, owner, group } = look
      return { kind: 'file', mode, owner, group, sha256: await host.files.sha256(path) }
    }),
    units: await each(
      [...known.units, ...target.units].map(({ name }) => name),
      async (name) => {
        const look = await lookAtUnit(host, name, signal)
        return { enabled: isEnabled(look), active: isActive(look) }
      },
    ),
    sysctls: await each(
      [...known.sysctls, ...target.sysctls].map(({ key }) => key),
      async (key) => (await readSysctl(host, key, signal)) ?? null,
    ),
    packages: Object.fromEntries((await manager?.installed([...new Set(names)], signal)) ?? []),
    kernelArguments: argumentsNamed.filter((argument) => present?.includes(argument)).sort(),
  }
}

async function each<T>(keys: readonly string[], look: (key: string) => Promise<T>): Promise<Record<string, T>> {
  const found: [string, T][] = []
  for (const key of [...new Set(keys)].sort()) found.push([key, await look(key)])
  return Object.fromEntries(found)
}
