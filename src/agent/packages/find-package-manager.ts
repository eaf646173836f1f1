import type { Host } from '../../ports/host.ts'
import { aptPackageManager } from './apt/apt-package-manager.ts'
import type { PackageManager } from './package-manager.ts'

/** The package manager this host is kept with; undefined on an image-based host that has none. */
export async function packageManagerOf(host: Host, signal: AbortSignal): Promise<PackageManager | undefined> {
  signal.throwIfAborted()
  const has = async (path: string) => (await host.files.look(path)).kind !== 'none'
  if ((await has('/usr/bin/apt-get')) && (await has('/var/lib/dpkg/status'))) return aptPackageManager(host)
  return undefined
}
