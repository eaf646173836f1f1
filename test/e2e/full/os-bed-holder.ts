// Holds a bed with a registry and a machine that has staged an image, until somebody ends it.

import { openBed } from '../../bed/bed.ts'
import { bootImageMachine } from '../../bed/osimage/image-machine.ts'
import { makeOsImage } from '../../bed/osimage/os-image.ts'
import { startRegistry } from '../../bed/osimage/registry.ts'

const bed = await openBed()
const registry = await startRegistry(bed)
const machine = await bootImageMachine(bed, registry, { image: await makeOsImage(registry, { version: '3.0' }) })
const next = await makeOsImage(registry, { version: '4.0' })
await machine.run(['rpm-ostree', 'rebase', `ostree-unverified-registry:${next.reference}`])
process.stdout.write(`${JSON.stringify({ slot: bed.slot, address: registry.address })}\n`)
