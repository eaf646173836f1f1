/**
 * Real machines for tests: booted Debian with systemd and apt, on a network of their own with package repositories. Needs root.
 *
 *   await using bed = await openBed()
 *   const machine = await bed.machine()                              // booted, about two seconds
 *   const url = await bed.publish('tools', [{ name: 'hello', version: '1.0' }])      // a signed repository
 *   await bed.trust(machine, 'tools', url)                           // its line in sources.list.d, with the trusted key
 *   await machine.run(['apt-get', 'update'])
 *
 * Beds live side by side (see bed-slot.ts). A bed ends with `close()`, with its process, or, if that was killed, when the next
 * one opens; then nothing of it is left.
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { baseRoot, debianMirror } from './base-root.ts'
import { hostAddress, layCable, machineAddress, mostMachines, raiseBridge, removeCable } from './bed-network.ts'
import { type BedSlot, leftoversOf } from './bed-slot.ts'
import type { DebPackage } from './deb-package.ts'
import { needHostPackages } from './host-packages.ts'
import { type HttpForwarder, startHttpForwarder } from './http-forwarder.ts'
import { type BootTree, Machine } from './machine.ts'
import { type MachineDisk, openMachineDisk } from './machine-disk.ts'
import { makeRepository, type RepositoryOptions } from './package-repository.ts'
import { RepositoryServer } from './repository-server.ts'
import { signingKey } from './signing-key.ts'
import { openOnSlot, type SlotLife } from './slot-life.ts'

export interface MachineOptions {
  /** Roots below the machine's own disk, the uppermost first; Debian's base if not said. */
  readonly layers?: readonly string[]
  /** A store of containerd's to start with. */
  readonly containerd?: string
  /** Folders or files of this machine, seen inside. */
  readonly binds?: readonly { readonly from: string; readonly to: string; readonly readOnly?: boolean }[]
  /** Whether apt knows Debian's own repository, through the forwarder. */
  readonly debian?: boolean
}

/** A machine that brings its own tree, such as one that boots from an image. */
export interface OwnTree {
  readonly name?: string
  readonly nextTree: (folder: string) => Promise<BootTree>
  readonly release?: () => Promise<void>
}

export interface Bed {
  readonly slot: BedSlot
  /** This process, as the machines see it. */
  readonly address: string
  readonly repositories: RepositoryServer
  readonly forwarder: HttpForwarder
  readonly machines: readonly Machine[]
  /** A fresh machine, booted, named `node` and its number. */
  machine(options?: MachineOptions): Promise<Machine>
  /** The same with a tree of one's own; not booted yet. */
  machineWithTree(tree: OwnTree): Promise<Machine>
  /** Builds the packages and serves them as a signed repository under that path; again for new packages. Returns its address. */
  publish(path: string, packages: readonly DebPackage[], options?: RepositoryOptions): Promise<string>
  /** Writes the repository and the trusted key into the machine's apt. */
  trust(machine: Machine, name: string, url: string): Promise<void>
  /** Something more to stop when the bed closes. */
  atClose(stop: () => Promise<void>): void
  close(): Promise<void>
  /** After `close`: what is still there. Empty, or the bed has a fault. */
  leftovers(): string[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function openBed(): Promise<Bed> {
  if (process.getuid?.() !== 0) throw new Error('the bed boots machines and needs root: run the tests as root')
  await needHostPackages()
  return openOnSlot(open)
}

async function open({ slot, atOnce, end }: SlotLife): Promise<Bed> {
  const machines: Machine[] = []
  atOnce(() => {
    for (const machine of machines) machine.killNow()
  })
  await raiseBridge(slot)
  const address = hostAddress(slot)
  const repositories = await RepositoryServer.start(address)
  const forwarder = await startHttpForwarder(address)

  const machineWithTree = async ({ name, nextTree, release }: OwnTree): Promise<Machine> => {
    const taken = new Set(machines.map((machine) => machine.number))
    const number = Array.from({ length: mostMachines }, (_, index) => index + 1).find((each) => !taken.has(each))
    if (number === undefined) throw new Error(`the bed has ${mostMachines} machines already`)
    const hardware = `${slot.prefix}n${number}`
    const folder = join(slot.folder, hardware)
    const machine = new Machine({
      name: name ?? `node${number}`,
      hardware,
      number,
      address: machineAddress(slot, number),
      folder,
      networkNamespace: `/run/netns/${hardware}`,
      nextTree: () => nextTree(folder),
      release: async () => {
        await release?.()
        await removeCable(hardware)
        machines.splice(machines.indexOf(machine), 1)
      },
    })
    machines.push(machine)
    await mkdir(folder)
    await layCable(slot, number)
    return machine
  }

  const stops = [() => repositories.stop(), () => forwarder.stop()]
  const close = async () => {
    await Promise.all(machines.map((machine) => machine.powerLoss()))
    await Promise.all(stops.map((stop) => stop()))
    end()
  }
  return {
    slot,
    address,
    repositories,
    forwarder,
    machines,
    machineWithTree,
    machine: async ({ layers, containerd, binds = [], debian = false }: MachineOptions = {}) => {
      const lower = layers ?? [await baseRoot()]
      const apt = { proxy: forwarder.url, direct: address, ...(debian ? { mirror: await debianMirror() } : {}) }
      let disk: MachineDisk | undefined
      const machine = await machineWithTree({
        nextTree: async (folder) => {
          const store = containerd === undefined ? {} : { containerd }
          disk ??= await openMachineDisk({ slot, folder, name: machine.name, lower, apt, ...store })
          const shared = binds.map(({ from, to, readOnly }) => `--bind${readOnly === true ? '-ro' : ''}=${from}:${to}`)
          return { root: disk.root, args: [...disk.args, ...shared] }
        },
        release: async () => disk?.remove(),
      })
      await machine.boot()
      return machine
    },
    publish: async (path, packages, options) => {
      const folder = join(slot.folder, 'repositories', path)
      await makeRepository(folder, packages, options)
      return repositories.serve(path, folder)
    },
    trust: async (machine, name, url) => {
      const keyring = `/etc/apt/keyrings/${name}.gpg`
      await machine.writeFile(keyring, await readFile((await signingKey('trusted')).keyringPath))
      await machine.writeFile(`/etc/apt/sources.list.d/${name}.list`, `deb [signed-by=${keyring}] ${url} /\n`)
    },
    atClose: (stop) => {
      stops.push(stop)
    },
    close,
    leftovers: () => leftoversOf(slot),
    [Symbol.asyncDispose]: close,
  }
}
