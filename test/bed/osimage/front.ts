// The program that stands for rpm-ostree and bootc: built from front/ with Debian's own Rust and libostree, kept by its sources.

import { copyFile, cp, mkdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { assetsFolder, cachedFolder, exists } from '../cache-folder.ts'
import { inRoot } from '../closed-root.ts'
import { contentKey } from '../content-key.ts'
import { debianLayer } from '../debian-root.ts'
import { runProgram } from '../run-program.ts'
import { osRoot } from './os-root.ts'

const sources = join(import.meta.dirname, 'front')
const files = ['Cargo.toml', 'Cargo.lock', 'src/main.rs'] as const
const buildPackages = [
  'cargo',
  'gcc',
  'libc6-dev',
  'libostree-dev',
  'libssl-dev',
  'libzstd-dev',
  'pkg-config',
  'zlib1g-dev',
]

/** Built on the machine's own authorities: a proxy of the house may stand before the crates. */
const authorities = '/etc/ssl/certs/ca-certificates.crt'

/** The path of the program. About six minutes of one core the first time, seconds when only our own source changed. */
export async function osFront(): Promise<string> {
  const root = await osRoot()
  const contents = await Promise.all(files.map((file) => readFile(join(sources, file))))
  const folder = await cachedFolder(`os-front-${contentKey(basename(root), ...contents)}`, async (fresh) => {
    process.stderr.write('rpm-ostree and bootc for the tests: building, some minutes of both cores …\n')
    const layer = await debianLayer(root, buildPackages)
    const work = join(assetsFolder(), 'os-front-build')
    await mkdir(work, { recursive: true })
    await rm(join(work, 'source'), { recursive: true, force: true })
    await cp(sources, join(work, 'source'), { recursive: true })
    const binds = { '/work': work, ...((await exists(authorities)) ? { [authorities]: authorities } : {}) }
    await runProgram(
      ...inRoot({ layers: [layer, root], binds }, [
        'env',
        'CARGO_HOME=/work/cargo',
        'CARGO_TARGET_DIR=/work/target',
        `CARGO_HTTP_CAINFO=${authorities}`,
        ...['nice', '-n', '10', 'cargo', 'build', '--release', '--locked', '--manifest-path=/work/source/Cargo.toml'],
      ]),
    )
    await copyFile(join(work, 'target/release/osimage'), join(fresh, 'osimage'))
  })
  return join(folder, 'osimage')
}
