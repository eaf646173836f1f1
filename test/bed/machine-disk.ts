// A machine's disk: a thin layer of its own above shared roots, and real folders where container layers will lie.

import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { machineAddress, mostMachines } from './bed-network.ts'
import type { BedSlot } from './bed-slot.ts'
import { runProgram } from './run-program.ts'

export interface MachineDisk {
  readonly root: string
  readonly args: readonly string[]
  remove(): Promise<void>
}

export interface DiskParts {
  readonly slot: BedSlot
  readonly folder: string
  readonly name: string
  /** The uppermost first. */
  readonly lower: readonly string[]
  /** A store of containerd's to start with. */
  readonly containerd?: string
  readonly apt: { readonly proxy: string; readonly direct: string; readonly mirror?: string }
}

// An overlay cannot be the upper layer of another one, and containerd makes overlays of its own.
const realFolders = ['containerd', 'kubelet', 'etcd'] as const

export async function openMachineDisk(parts: DiskParts): Promise<MachineDisk> {
  const { folder, lower } = parts
  const [upper, work, root] = [join(folder, 'upper'), join(folder, 'work'), join(folder, 'root')]
  for (const path of [upper, work, root, ...realFolders.map((name) => join(folder, name))]) {
    await mkdir(path, { recursive: true })
  }
  if (parts.containerd !== undefined) await cloneStore(parts.containerd, join(folder, 'containerd'))
  const layers = `lowerdir=${lower.join(':')},upperdir=${upper},workdir=${work}`
  await runProgram('mount', ['-t', 'overlay', 'overlay', '-o', layers, root])
  await writeIdentity(root, parts)
  return {
    root,
    args: realFolders.map((name) => `--bind=${join(folder, name)}:/var/lib/${name}`),
    remove: async () => {
      await runProgram('umount', [root])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Image contents and layers are never written again, so they are linked: gigabytes in a moment, and once in the page cache. */
export async function cloneStore(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  // Links end at the border of a file system.
  await runProgram('cp', ['-al', from, to]).catch(() => runProgram('cp', ['-a', from, to]))
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name))
    if (!entry.isFile() || /\/(blobs|snapshots)\//.test(path)) continue
    await rm(join(to, path))
    await cp(join(from, path), join(to, path), { preserveTimestamps: true })
  }
}

/** Every machine of a bed knows the others by name. */
export async function writeNames(root: string, slot: BedSlot, name: string): Promise<void> {
  const hosts = Array.from({ length: mostMachines }, (_, index) => {
    const number = index + 1
    return `${machineAddress(slot, number)} node${number}\n`
  })
  await writeFile(join(root, 'etc/hostname'), `${name}\n`)
  await writeFile(join(root, 'etc/hosts'), `127.0.0.1 localhost\n${hosts.join('')}`)
}

async function writeIdentity(root: string, { slot, name, apt }: DiskParts): Promise<void> {
  const proxy = [
    `Acquire::http::Proxy "${apt.proxy}";`,
    // The bed's own repositories are on the same wire.
    `Acquire::http::Proxy::${apt.direct} DIRECT;`,
  ]
  await writeNames(root, slot, name)
  await writeFile(join(root, 'etc/apt/apt.conf.d/91bed-proxy'), `${proxy.join('\n')}\n`)
  if (apt.mirror !== undefined) {
    await writeFile(join(root, 'etc/apt/sources.list'), `deb ${apt.mirror} bookworm main\n`)
  }
}
