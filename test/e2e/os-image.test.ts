// The osimage driver on machines whose system is an image: the agent as it is, over the tools' own command lines.

import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPairSignatures } from '../../src/adapters/oci/key-pair-signatures.ts'
import {
  changeKernelArguments,
  readKernelArguments,
} from '../../src/agent/drivers/kernel-arguments/kernel-arguments.ts'
import { osImageDriver } from '../../src/agent/drivers/osimage/osimage-driver.ts'
import type { Order } from '../../src/api/node-state.ts'
import type { OsWork } from '../../src/api/work.ts'
import { scriptOrder } from '../agent/agent-bench.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { bootImageMachine } from '../bed/osimage/image-machine.ts'
import { makeImageKey, signImage, signImageByBundle } from '../bed/osimage/image-signature.ts'
import { makeOsImage, type OsImageOptions, type PublishedImage } from '../bed/osimage/os-image.ts'
import { type Registry, startRegistry } from '../bed/osimage/registry.ts'
import { signingKey } from '../bed/signing-key.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { toolFiles } from '../conformance/image-case.ts'
import { ResidentAgent } from './resident-agent.ts'

let bed: Bed
let registry: Registry

beforeAll(async () => {
  bed = await openBed()
  registry = await startRegistry(bed)
})

afterAll(async () => {
  await registry.stop()
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

const engines = [
  { engine: 'rpm-ostree', minor: 0 },
  { engine: 'bootc', minor: 1 },
  { engine: 'ostree', minor: 2 },
] as const

let orders = 0
function imageOrder(os: OsWork, part: Partial<Order> = {}): Order {
  orders += 1
  return scriptOrder({ id: `image-${orders}`, work: { os }, rollback: 'Image', timeout: '10m', ...part })
}

const version = async (machine: Machine) => (await machine.readFile('/usr/share/bed/version')).trim()
const guardFiles = async (machine: Machine) =>
  (
    await machine
      .run(['find', '/etc/systemd', '/var/lib/slipway/boot-guard', '-name', '*guard*', '-o', '-name', 'armed'])
      .catch(() => '')
  )
    .split('\n')
    .filter((path) => /guard\.|armed/.test(path))

/** Half a second into it. */
async function untilFetching(machine: Machine): Promise<void> {
  const fetching = ['pgrep', '--full', 'download-only|container image pull /ostree']
  while ((await machine.exec(fetching)).code !== 0) await delay(50)
  await delay(500)
}

describe.each(engines)('OS images by $engine', ({ engine, minor }) => {
  let machine: Machine
  let agent: ResidentAgent
  let good: PublishedImage
  let broken: PublishedImage
  let large: PublishedImage
  const image = (major: number, options: Omit<OsImageOptions, 'version'> = {}) =>
    makeOsImage(registry, {
      version: `${major}.${minor}`,
      ...options,
      files: toolFiles(engine),
    })

  beforeAll(async () => {
    good = await image(4)
    broken = await image(5, { broken: true })
    large = await image(6, { extraMegabytes: 150 })
    machine = await bootImageMachine(bed, registry, { image: await image(3) })
    agent = new ResidentAgent(machine, (clock) => [osImageDriver({ clock, signatures: keyPairSignatures })])
  })

  afterAll(async () => {
    await agent[Symbol.asyncDispose]()
    await machine.destroy()
  })

  test('an image by its tag is booted and confirmed', async () => {
    const before = await machine.bootId()
    const order = await agent.carryOut(imageOrder({ image: good.reference }))
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(order.warnings).toBeUndefined()
    expect(await version(machine)).toBe(`4.${minor}`)
    expect(await machine.bootId()).not.toBe(before)
    expect(await guardFiles(machine)).toEqual([])
  })

  test('the same image by its digest is a no-op', async () => {
    const before = await machine.bootId()
    const order = await agent.carryOut(imageOrder({ image: good.pinned }))
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(order.steps.map(({ attempts }) => attempts)).toEqual(order.steps.map(() => 0))
    expect(await machine.bootId()).toBe(before)
  })

  test('an image whose kubelet fails is taken back by the agent', async () => {
    const order = await agent.carryOut(imageOrder({ image: broken.pinned }))
    expect(order).toMatchObject({ state: 'Failed', rolledBack: true, reason: { code: 'ImageUnhealthy' } })
    expect(await version(machine)).toBe(`4.${minor}`)
    expect(await machine.run(['systemctl', 'is-active', 'kubelet'])).toBe('active\n')
    expect(await guardFiles(machine)).toEqual([])
  })

  test('an image whose kubelet cannot start the agent is taken back by the guard', async () => {
    agent.comesUp = async () => (await machine.exec(['systemctl', 'is-active', 'kubelet'])).code === 0
    const order = await agent.carryOut(imageOrder({ image: broken.pinned }))
    expect(order).toMatchObject({ state: 'Failed', rolledBack: true, reason: { code: 'ImageRolledBack' } })
    expect(await version(machine)).toBe(`4.${minor}`)
    expect(await guardFiles(machine)).toEqual([])
  })

  test('power lost after staging: the image, named by its digest, is staged again', async () => {
    agent.insteadOfReboot = async () => {
      await machine.powerLoss()
      await machine.boot()
    }
    const order = await agent.carryOut(imageOrder({ image: large.pinned }))
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(order.steps.find(({ name }) => name === 'boot-image')?.attempts).toBe(2)
    expect(await version(machine)).toBe(`6.${minor}`)
  })

  // What does not depend on the tool is tried with one of them.
  if (engine !== 'rpm-ostree') return

  test('power lost while the image is fetched: it is fetched on', async () => {
    const next = await image(7, { extraMegabytes: 150 })
    const order = imageOrder({ image: next.reference })
    agent.cluster.place(order)
    await untilFetching(machine)
    await machine.powerLoss()
    await machine.boot()
    expect(await agent.carryOut(order)).toMatchObject({ state: 'Succeeded' })
    expect(await version(machine)).toBe(`7.${minor}`)
  })

  test('a registry that is away is waited for, also in the middle', async () => {
    const next = await image(8, { extraMegabytes: 150 })
    await registry.stop()
    const order = imageOrder({ image: next.reference })
    agent.cluster.place(order)
    await agent.until(order.id, ({ reason }) => reason?.code === 'StagingFailed')
    await registry.start()
    await untilFetching(machine)
    await registry.stop()
    await delay(1_000)
    await registry.start()
    expect(await agent.carryOut(order)).toMatchObject({ state: 'Succeeded' })
    expect(await version(machine)).toBe(`8.${minor}`)
  })

  describe('signatures', () => {
    const key = makeImageKey()
    const stranger = makeImageKey()
    const staged = async (os: OsWork) => {
      const order = imageOrder(os, { desired: 'Stage' })
      agent.cluster.place(order)
      return await agent.until(order.id, ({ state }) => state === 'Staged' || state === 'Failed')
    }

    test.each([
      ['by the key is trusted', 20, key, undefined, signImage],
      ['by another key is not', 21, stranger, undefined, signImage],
      ['of another image is not', 22, key, { digest: `sha256:${'0'.repeat(64)}` }, signImage],
      ['in a bundle by the key is trusted', 25, key, undefined, signImageByBundle],
      ['in a bundle by another key is not', 26, stranger, undefined, signImageByBundle],
      ['in a bundle of another image is not', 27, key, { digest: `sha256:${'0'.repeat(64)}` }, signImageByBundle],
    ] as const)('one %s', async (_, major, signer, claims, sign) => {
      const next = await image(major)
      await sign(registry, next, signer, claims ?? next)
      const order = await staged({ image: next.reference, verify: { key: key.publicKey } })
      const isGood = signer === key && claims === undefined
      expect(order.reason?.code).toBe(isGood ? undefined : 'ImageUntrusted')
      expect(order.state).toBe(isGood ? 'Staged' : 'Failed')
    })

    test('none is not', async () => {
      const order = await staged({ image: (await image(23)).reference, verify: { key: key.publicKey } })
      expect(order.reason).toMatchObject({ code: 'ImageUntrusted', message: expect.stringContaining('is not signed') })
    })

    test('a GPG key vouches for no image with layers above its commit', async () => {
      const gpg = await readFile((await signingKey('trusted')).armoredPath, 'utf8')
      const order = await staged({ image: (await image(24)).reference, verify: { key: gpg } })
      const message = expect.stringContaining('it has 1 layer above its ostree commit')
      expect(order.reason).toEqual({ code: 'ImageUntrusted', message })
    })

    test('an unknown tag is refused', async () => {
      const order = await staged({ image: `${registry.address}/bedos:nosuch` })
      expect(order.reason?.code).toBe('ImageUnknown')
    })
  })

  test('kernel arguments reach the next boot', async () => {
    const { signal } = new AbortController()
    const change = { add: ['slipway.test=1'], remove: [] }
    await changeKernelArguments(hostOfMachine(machine), change, signal)
    await changeKernelArguments(hostOfMachine(machine), change, signal)
    expect(await readKernelArguments(hostOfMachine(machine), signal)).toContain('slipway.test=1')
    await machine.reboot()
    const words = (await machine.readFile('/proc/cmdline')).trim().split(' ')
    expect(words.filter((word) => word === 'slipway.test=1')).toHaveLength(1)
    await changeKernelArguments(hostOfMachine(machine), { add: [], remove: ['slipway.test=1'] }, signal)
    await machine.reboot()
    expect(await machine.readFile('/proc/cmdline')).not.toContain('slipway.test')
  })
})
