// Many hosts have a small file system for /boot, which old kernels fill. A kernel that finds no room there fails when the node is
// drained already, and leaves the package manager half-way.

import type { Reason } from '../../api/reason.ts'
import type { Host } from '../../ports/host.ts'
import { diskTooFull } from './package-reasons.ts'

const boot = '/boot'
const kernelPackage = /^(linux-image-.+|kernel(-.+)?-core|kernel(-(uek|ml|lt|rt|lts))?)$/
const kernelImage = /^(vmlinuz|vmlinux|Image)-/
/** The file system a kernel starts with is made on the host, and is the greater part; that for rescue has all modules there are. */
const initialFiles = /^(initrd|initramfs)(\.img)?-(?!.*(rescue|kdump))/

/** Where a kernel is among the packages there must be room for one more like the largest that is there. */
export async function bootRoomMissing(
  { files }: Pick<Host, 'files'>,
  names: readonly string[],
): Promise<Reason | undefined> {
  if (!names.some((name) => kernelPackage.test(name))) return undefined
  const found = await files.names(boot)
  const largest = async (pattern: RegExp) => {
    const looks = await Promise.all(
      found.filter((name) => pattern.test(name)).map((name) => files.look(`${boot}/${name}`)),
    )
    return Math.max(0, ...looks.map((look) => (look.kind === 'file' ? look.bytes : 0)))
  }
  const neededBytes = (await largest(kernelImage)) + (await largest(initialFiles))
  const freeBytes = await files.freeBytes(boot)
  if (freeBytes >= neededBytes) return undefined
  return diskTooFull(
    `${boot} has ${megabytes(freeBytes)} free, and a kernel like the one there takes ${megabytes(neededBytes)}; remove old kernels`,
  )
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
