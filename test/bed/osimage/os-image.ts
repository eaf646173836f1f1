// Versions of the bed's operating system: the base and one ordinary layer, pushed to a registry.

import { createCipheriv, createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProgram } from '../run-program.ts'
import { baseKernel, osBaseImage } from './base-image.ts'
import { withLayer } from './oci-image.ts'
import { osRoot } from './os-root.ts'
import type { Registry } from './registry.ts'

export interface OsImageOptions {
  readonly version: string
  /** What its kubelet calls itself; the image's version unless told, which no API server would take for older than itself. */
  readonly kubernetes?: string
  /** Its kubelet ends with 1 at once. */
  readonly broken?: boolean
  /** Bytes that no compression makes less, to give a pull some time. */
  readonly extraMegabytes?: number
  /**
   * Further files by their path; those below usr/bin and usr/libexec are executable. `usr/bin/.wh.bootc` takes bootc away, to have a
   * system with rpm-ostree alone.
   */
  readonly files?: Readonly<Record<`usr/${string}`, string | Buffer>>
  /** Further packages of Debian's. */
  readonly packages?: readonly string[]
}

export interface PublishedImage {
  readonly repository: string
  /** `10.77.1.1:5000/bedos:3.0` */
  readonly reference: string
  /** `10.77.1.1:5000/bedos@sha256:…` */
  readonly pinned: string
  readonly digest: string
}

const repository = 'bedos'

/** The same options give the same digest as long as the base is in the cache. Half a second, and one for each 50 extra megabytes. */
export async function makeOsImage(registry: Registry, options: OsImageOptions): Promise<PublishedImage> {
  const image = await withLayer(await osBaseImage(options.packages), options.version, await layerOf(options))
  await registry.push(repository, options.version, image)
  const name = `${registry.address}/${repository}`
  return {
    repository,
    reference: `${name}:${options.version}`,
    pinned: `${name}@${image.digest}`,
    digest: image.digest,
  }
}

async function layerOf(options: OsImageOptions): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-layer-'))
  try {
    for (const [path, content] of Object.entries(await filesOf(options))) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content, { mode: /^usr\/(bin|libexec)\//.test(path) ? 0o755 : 0o644 })
    }
    const archive = join(folder, 'layer.tar')
    const always = ['--sort=name', '--mtime=@0', '--numeric-owner', '--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w']
    await runProgram('tar', [...always, '-C', folder, '-cf', archive, 'usr'])
    return await readFile(archive)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function filesOf(options: OsImageOptions): Promise<Readonly<Record<string, string | Buffer>>> {
  const { version, broken = false, extraMegabytes = 0 } = options
  const release = await readFile(join(await osRoot(), 'usr/lib/os-release'), 'utf8')
  const kernel = `usr/lib/modules/6.1.0-${version}`
  const units = 'usr/lib/systemd/system'
  return {
    'usr/lib/os-release': `${release.replace(/^PRETTY_NAME=.*/m, `PRETTY_NAME="BedOS ${version}"`)}OSTREE_VERSION=${version}\n`,
    'usr/share/bed/version': `${version}\n`,
    // A layer takes a folder of the one below away by a file of this name.
    [`usr/lib/modules/.wh.${baseKernel}`]: '',
    [`${kernel}/vmlinuz`]: noise(`kernel ${version}`, 2),
    [`${kernel}/initramfs.img`]: noise(`initramfs ${version}`, 4),
    ...(extraMegabytes > 0 ? { 'usr/share/bed/payload': noise(`payload ${version}`, extraMegabytes) } : {}),
    'usr/bin/kubelet': kubelet(options.kubernetes ?? version, broken),
    [`${units}/kubelet.service`]: `[Unit]\nDescription=kubelet of image ${version}\n[Service]\nExecStart=/usr/bin/kubelet\n`,
    [`${units}/multi-user.target.d/kubelet.conf`]: '[Unit]\nWants=kubelet.service\n',
    ...options.files,
  }
}

function kubelet(version: string, broken: boolean): string {
  const work = broken ? 'echo "kubelet: unknown flag" >&2; exit 1' : 'exec sleep infinity'
  return `#!/bin/sh\n[ "$1" = --version ] && { echo "Kubernetes v${version}"; exit; }\n${work}\n`
}

/** Without pattern, and the same for the same name. */
function noise(name: string, megabytes: number): Buffer {
  const key = createHash('sha256').update(name).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(megabytes * 1_048_576))
}
