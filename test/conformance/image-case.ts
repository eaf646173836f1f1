import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { keyPairSignatures } from '../../src/adapters/oci/key-pair-signatures.ts'
import { osImageDriver } from '../../src/agent/drivers/osimage/osimage-driver.ts'
import type { Bed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { bootImageMachine } from '../bed/osimage/image-machine.ts'
import { makeOsImage, type PublishedImage } from '../bed/osimage/os-image.ts'
import { type Registry, startRegistry } from '../bed/osimage/registry.ts'
import type { ConformanceCase } from './conformance-case.ts'

type Tool = 'rpm-ostree' | 'bootc' | 'ostree'

/** As rpm-ostree and bootc link their engine into ostree. */
const containerCommand = {
  'usr/libexec/libostree/ext/ostree-container': '#!/bin/sh\nexec ostree-ext "$@"\n',
} as const

/** A system with this tool alone. */
export function toolFiles(tool: Tool): Readonly<Record<`usr/${string}`, string>> {
  const others = (['rpm-ostree', 'bootc'] as const).filter((other) => other !== tool)
  return { ...containerCommand, ...Object.fromEntries(others.map((name) => [`usr/bin/.wh.${name}`, ''])) }
}

const registries = new WeakMap<Bed, Promise<Registry>>()

/** One for all cases of a bed. */
export function registryOf(bed: Bed): Promise<Registry> {
  const known = registries.get(bed)
  if (known) return known
  const registry = startRegistry(bed)
  registries.set(bed, registry)
  bed.atClose(async () => (await registry).stop())
  return registry
}

/** From version 3 to version 4 of the bed's system. The tools share the driver's seeds: each run takes minutes. */
export function imageCase(tool: Tool, { minor, seed }: { minor: number; seed: number }): ConformanceCase {
  const images = new WeakMap<Machine, PublishedImage>()
  const version = (major: number) => `${major}.${minor}`
  return {
    name: `osimage (${tool})`,
    // The fronts do not say their version; the library below them does.
    tool: { name: tool, version: ['sh', '-c', 'echo ostree $(ostree --version | sed -n "s/.*Version: //p")'] },
    driver: osImageDriver({ clock: new SystemClock(), signatures: keyPairSignatures }),
    seeds: [seed],
    setUp: async (bed) => {
      const registry = await registryOf(bed)
      const files = toolFiles(tool)
      const machine = await bootImageMachine(bed, registry, {
        image: await makeOsImage(registry, { version: version(3), files }),
      })
      images.set(machine, await makeOsImage(registry, { version: version(4), files }))
      return machine
    },
    order: (machine) => {
      const image = images.get(machine)
      if (!image) throw new Error('the machine was not set up by this case')
      return Promise.resolve({ work: { os: { image: image.reference } }, rollback: 'Image' })
    },
    isDone: async (machine) => (await machine.readFile('/usr/share/bed/version')).trim() === version(4),
    check: async (machine) => {
      const left = await machine.exec([
        'find',
        '/etc/systemd/system',
        '/var/lib/slipway/boot-guard',
        '-type',
        'f',
        '-name',
        '*guard*',
      ])
      if (left.stdout !== '') throw new Error(`the boot guard is still there: ${left.stdout}`)
    },
  }
}
