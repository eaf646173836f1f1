/**
 * A machine whose operating system is a container image: an ostree sysroot filled from the registry. Each boot follows the
 * newest boot entry, as a boot loader does. Inside are `rpm-ostree`, `bootc` and `ostree`, and a kubelet that only waits.
 *
 *   const registry = await startRegistry(bed)
 *   const machine = await bootImageMachine(bed, registry, { image: await makeOsImage(registry, { version: '3.0' }) })
 *   await machine.run(['rpm-ostree', 'rebase', `ostree-unverified-registry:${next.reference}`])
 *   await machine.reboot()
 */

import { mkdir, readdir, readFile, realpath, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bed, MachineOptions } from '../bed.ts'
import { exists } from '../cache-folder.ts'
import { inRoot } from '../closed-root.ts'
import type { BootTree, Machine } from '../machine.ts'
import { cloneStore, writeNames } from '../machine-disk.ts'
import { runProgram } from '../run-program.ts'
import { newestEntry } from './boot-entry.ts'
import { osFront } from './front.ts'
import type { PublishedImage } from './os-image.ts'
import { osLayers } from './os-root.ts'
import type { Registry } from './registry.ts'

export interface ImageMachineOptions {
  readonly image: PublishedImage
  /** Only /var may be bound into: the rest belongs to the image. */
  readonly binds?: MachineOptions['binds']
  /** A disk of this size, to see it full; an installed image takes 230. Without it the disk is as large as this machine's. */
  readonly diskMegabytes?: number
  /** A store of containerd's to start with. */
  readonly containerd?: string
}

const osName = 'bedos'
const registries = '/etc/containers/registries.conf.d/bed.conf'

// $1 the image's reference.
const deploy = `set -eu
ostree admin init-fs /machine/sysroot
ostree admin --sysroot=/machine/sysroot os-init ${osName}
/front/osimage container image deploy --sysroot=/machine/sysroot --stateroot=${osName} \\
  --imgref="ostree-unverified-registry:$1" --karg=root=LABEL=bed --karg=rw`

export async function bootImageMachine(
  bed: Bed,
  registry: Registry,
  { image, binds = [], diskMegabytes, containerd }: ImageMachineOptions,
): Promise<Machine> {
  const machine = await bed.machineWithTree({
    nextTree: async (folder) => {
      if (!(await exists(join(folder, 'sysroot')))) {
        await mkdir(join(folder, 'sysroot'))
        if (diskMegabytes !== undefined) await mountDisk(folder, diskMegabytes)
        await install(folder, registry, image)
        // The machine's own settings, written by whoever installs it; ostree carries them on into later deployments.
        const { root } = await bootTree(folder)
        await writeFile(join(root, registries), insecure(registry))
        await writeNames(root, bed.slot, machine.name)
        if (containerd !== undefined) await fillStore(folder, containerd)
      }
      const tree = await bootTree(folder)
      const shared = binds.map(({ from, to, readOnly }) => `--bind${readOnly === true ? '-ro' : ''}=${from}:${to}`)
      return { ...tree, args: [...tree.args, ...shared] }
    },
    release: async () => {
      if (diskMegabytes !== undefined) await runProgram('umount', [join(machine.folder, 'sysroot')])
      await removeSysroot(machine.folder)
    },
  })
  await machine.boot()
  return machine
}

async function mountDisk(folder: string, megabytes: number): Promise<void> {
  const disk = join(folder, 'disk')
  await writeFile(disk, '')
  await truncate(disk, megabytes * 1_048_576)
  await runProgram('mkfs.ext4', ['-q', disk])
  await runProgram('mount', ['-o', 'loop', disk, join(folder, 'sysroot')])
}

async function install(folder: string, registry: Registry, image: PublishedImage): Promise<void> {
  const settings = join(folder, 'registries.conf')
  await writeFile(settings, insecure(registry))
  const binds = { '/machine': folder, '/front': join(await osFront(), '..'), [registries]: settings }
  await runProgram(...inRoot({ layers: await osLayers(), binds }, ['sh', '-c', deploy, 'deploy', image.reference]))
}

function insecure({ address }: Registry): string {
  return `[[registry]]\nlocation = "${address}"\ninsecure = true\n`
}

async function fillStore(folder: string, containerd: string): Promise<void> {
  const lib = join(folder, 'sysroot/ostree/deploy', osName, 'var/lib')
  await mkdir(lib, { recursive: true })
  await cloneStore(containerd, join(lib, 'containerd'))
}

async function bootTree(folder: string): Promise<BootTree> {
  const sysroot = join(folder, 'sysroot')
  const entries = join(sysroot, 'boot/loader/entries')
  const names = await readdir(entries)
  const texts = await Promise.all(names.map((name) => readFile(join(entries, name), 'utf8')))
  const entry = newestEntry(texts)
  const root = await realpath(join(sysroot, entry.deployment))
  const [commandLine, booted] = [join(folder, 'cmdline'), join(folder, 'ostree-booted')]
  await writeFile(commandLine, `${entry.options}\n`)
  await writeFile(booted, '')
  return {
    root,
    args: [
      `--bind=${sysroot}:/sysroot`,
      `--bind=${sysroot}/ostree/deploy/${osName}/var:/var`,
      `--bind=${sysroot}/boot:/boot`,
      `--bind-ro=${root}/usr:/usr`,
      `--bind-ro=${booted}:/run/ostree-booted`,
      `--bind-ro=${commandLine}:/run/bed-cmdline`,
    ],
  }
}

async function removeSysroot(folder: string): Promise<void> {
  // ostree makes its deployments immutable.
  await runProgram('find', [
    folder,
    '-maxdepth',
    '6',
    '-path',
    '*/deploy/*/deploy/*.?',
    '-exec',
    'chattr',
    '-i',
    '{}',
    '+',
  ])
  await rm(folder, { recursive: true, force: true })
}
