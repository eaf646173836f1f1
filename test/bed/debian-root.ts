// Roots of Debian: the bare system by debootstrap, and layers over it with more packages. Kept in the cache by what they hold.

import { chmod, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { debianMirror } from './base-root.ts'
import { cachedFolder } from './cache-folder.ts'
import { closed, inRoot } from './closed-root.ts'
import { contentKey } from './content-key.ts'
import { needHostPackages } from './host-packages.ts'
import { runProgram } from './run-program.ts'

export type Suite = 'bookworm' | 'trixie'

/** A Debian system with these packages, in a folder of its own. */
export async function debianRoot(suite: Suite, packages: readonly string[]): Promise<string> {
  return cachedFolder(`debian-${suite}-${contentKey(...packages)}`, async (folder) => {
    await needHostPackages()
    const args = ['--variant=minbase', `--include=${packages.join(',')}`, suite, folder, await debianMirror()]
    await runProgram(...closed(['debootstrap', ...args]))
    await rm(join(folder, 'var/cache/apt/archives'), { recursive: true, force: true })
    await chmod(folder, 0o755)
  })
}

/**
 * What installing these packages adds to a root, as a layer to lay over it. `settle` is a shell program that runs in it
 * afterwards.
 */
export async function debianLayer(root: string, packages: readonly string[], settle = ':'): Promise<string> {
  const key = contentKey(basename(root), ...packages, install, settle)
  const made = await cachedFolder(`debian-layer-${key}`, async (folder) => {
    const [upper, work] = [join(folder, 'upper'), join(folder, 'work')]
    await mkdir(upper)
    await mkdir(work)
    const words = ['sh', '-c', `${install}\n${settle}`, 'install', await debianMirror(), ...packages]
    await runProgram(...inRoot({ layers: [root], writes: folder }, words))
    for (const passing of [work, join(upper, 'var/lib/apt/lists'), join(upper, 'run')]) {
      await rm(passing, { recursive: true, force: true })
    }
  })
  return join(made, 'upper')
}

// A root may know no repository, or one that only a machine on the bed's network reaches.
const install = `set -eu
. /etc/os-release
printf 'deb %s %s main\\n' "$1" "$VERSION_CODENAME" > /run/layer.list; shift
aptget() { apt-get -o Dir::Etc::SourceList=/run/layer.list -o Dir::Etc::SourceParts=/dev/null -q "$@"; }
aptget update
aptget -y install --no-install-recommends "$@"
apt-get clean`
