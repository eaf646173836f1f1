// A machine's disk: a thin layer of its own above shared roots, and real folders where container layers will lie.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  readonly number: number
  readonly name: string
  /** The uppermost first. */
  readonly lower: readonly string[]
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

async function writeIdentity(root: string, { slot, name, apt }: DiskParts): Promise<void> {
  const hosts = Array.from({ length: mostMachines }, (_, index) => {
    const number = index + 1
    return `${machineAddress(slot, number)} node${number}\n`
  })
  const proxy = [
    `Acquire::http::Proxy "${apt.proxy}";`,
    // The bed's own repositories are on the same wire.
    `Acquire::http::Proxy::${apt.direct} DIRECT;`,
  ]
  await writeFile(join(root, 'etc/hostname'), `${name}\n`)
  await writeFile(join(root, 'etc/hosts'), `127.0.0.1 localhost\n${hosts.join('')}`)
  await writeFile(join(root, 'etc/apt/apt.conf.d/91bed-proxy'), `${proxy.join('\n')}\n`)
  if (apt.mirror !== undefined) {
    await writeFile(join(root, 'etc/apt/sources.list'), `deb ${apt.mirror} bookworm main\n`)
  }
}
