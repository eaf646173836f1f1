import type { Host } from '../../ports/host.ts'
import { aptPackageManager } from './apt/apt-package-manager.ts'
import { dnfPackageManager } from './dnf/dnf-package-manager.ts'
import { tellingOfBundles } from './of-bundle.ts'
import type { PackageManager } from './package-manager.ts'

/** The package manager this host is kept with; undefined on an image-based host that has none. */
export async function packageManagerOf(host: Host, signal: AbortSignal): Promise<PackageManager | undefined> {
  signal.throwIfAborted()
  const has = async (path: string) => (await host.files.look(path)).kind !== 'none'
  // Debian offers dnf as well, for making other systems; a system image may bring its package manager and refuse its use.
  if (await has('/run/ostree-booted')) return undefined
  if ((await has('/usr/bin/apt-get')) && (await has('/var/lib/dpkg/status')))
    return tellingOfBundles(aptPackageManager(host))
  for (const program of ['dnf', 'yum'] as const) {
    if (await has(`/usr/bin/${program}`)) return tellingOfBundles(dnfPackageManager(host, program))
  }
  return undefined
}
