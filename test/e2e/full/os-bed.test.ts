import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Bed, openBed } from '../../bed/bed.ts'
import { type BedSlot, leftoversOf } from '../../bed/bed-slot.ts'
import { execute } from '../../bed/execute.ts'
import type { Machine } from '../../bed/machine.ts'
import { bootImageMachine } from '../../bed/osimage/image-machine.ts'
import { type ImageKey, makeImageKey, signImage } from '../../bed/osimage/image-signature.ts'
import { makeOsImage, type PublishedImage } from '../../bed/osimage/os-image.ts'
import { type Registry, startRegistry } from '../../bed/osimage/registry.ts'

const rpmOstreeShape = z.object({
  deployments: z.array(
    z.object({
      booted: z.boolean(),
      staged: z.boolean(),
      version: z.string(),
      'container-image-reference': z.string(),
      'container-image-reference-digest': z.string(),
    }),
  ),
})
const bootcShape = z.object({
  spec: z.object({ bootOrder: z.string() }),
  status: z.object({
    booted: z.object({ image: z.object({ version: z.string(), imageDigest: z.string() }) }),
    rollback: z.object({ image: z.object({ version: z.string() }) }),
    staged: z.null(),
    rollbackQueued: z.boolean(),
  }),
})

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

describe('a machine whose system is an image', () => {
  let machine: Machine
  let three: PublishedImage
  let four: PublishedImage
  let broken: PublishedImage
  let large: PublishedImage
  const shared = '/var/lib/shared'

  beforeAll(async () => {
    three = await makeOsImage(registry, { version: '3.0' })
    four = await makeOsImage(registry, {
      version: '4.0',
      files: { 'usr/bin/kubeadm': '#!/bin/sh\necho kubeadm of 4.0\n' },
    })
    broken = await makeOsImage(registry, { version: '5.0', broken: true })
    large = await makeOsImage(registry, { version: '6.0', extraMegabytes: 100 })
    const binds = [{ from: dirname(process.execPath), to: shared, readOnly: true }]
    machine = await bootImageMachine(bed, registry, { image: three, binds })
  })

  afterAll(() => machine.destroy())

  const unverified = (reference: string) => `ostree-unverified-registry:${reference}`
  const rebase = (image: PublishedImage) => machine.run(['rpm-ostree', 'rebase', unverified(image.reference)])
  const version = async () => (await machine.readFile('/usr/share/bed/version')).trim()
  const kubelet = async () => (await machine.exec(['systemctl', 'is-active', 'kubelet'])).stdout.trim()
  const deployments = async () => {
    const status = rpmOstreeShape.parse(JSON.parse(await machine.run(['rpm-ostree', 'status', '--json'])))
    return status.deployments
  }
  const brief = async () =>
    (await deployments()).map(
      ({ booted, staged, version }) => `${version}${booted ? ' booted' : ''}${staged ? ' staged' : ''}`,
    )
  const bootc = async () => bootcShape.parse(JSON.parse(await machine.run(['bootc', 'status', '--json'])))

  test('boots what it was installed from', async () => {
    expect(await brief()).toEqual(['3.0 booted'])
    expect([await version(), await kubelet()]).toEqual(['3.0', 'active'])
    expect(await machine.run(['kubelet', '--version'])).toBe('Kubernetes v3.0\n')
    expect((await deployments())[0]?.['container-image-reference-digest']).toBe(three.digest)
    expect(await registry.digestOf(three.repository, '3.0')).toBe(three.digest)
    expect(await machine.run(['systemctl', '--failed', '--no-legend'])).toBe('')
  })

  test('runs a program of ours that is bound into it', async () => {
    expect(await machine.run([`${shared}/node`, '--version'])).toBe(`${process.version}\n`)
  })

  test('stages another version by its one new layer, boots it and keeps its own settings', async () => {
    const said = await rebase(four)
    expect(said).toContain('layers already present: 1; layers needed: 1')
    expect(await brief()).toEqual(['4.0 staged', '3.0 booted'])
    await machine.writeFile('/etc/local.conf', 'kept')
    await machine.reboot()
    expect(await brief()).toEqual(['4.0 booted', '3.0'])
    expect([await version(), await machine.readFile('/etc/local.conf')]).toEqual(['4.0', 'kept'])
    expect(await machine.run(['kubeadm'])).toBe('kubeadm of 4.0\n')
  })

  test('goes back', async () => {
    await machine.run(['rpm-ostree', 'rollback'])
    await machine.reboot()
    expect(await version()).toBe('3.0')
  })

  test('boots a broken version all the same, and goes back from it', async () => {
    await rebase(broken)
    await machine.reboot()
    expect([await version(), await kubelet()]).toEqual(['5.0', 'failed'])
    await machine.run(['rpm-ostree', 'rollback'])
    await machine.reboot()
    expect([await version(), await kubelet()]).toEqual(['3.0', 'active'])
  })

  test('gets a kernel argument with the next boot', async () => {
    await machine.run(['rpm-ostree', 'kargs', '--append=slipway.test=1'])
    expect(await machine.readFile('/proc/cmdline')).not.toContain('slipway.test=1')
    await machine.reboot()
    expect(await machine.readFile('/proc/cmdline')).toContain('slipway.test=1')
  })

  test('says 1 for a tag that is not there, and for a registry that is down', async () => {
    const rebaseTo = async (reference: string) =>
      (await machine.exec(['rpm-ostree', 'rebase', unverified(reference)])).code
    expect(await rebaseTo(`${registry.address}/${three.repository}:missing`)).toBe(1)
    await registry.stop()
    expect(await rebaseTo(four.reference)).toBe(1)
    await registry.start()
    expect((await deployments()).some(({ staged }) => staged)).toBe(false)
  })

  test('does one thing at a time, and stops it when asked', async () => {
    const pull = machine.exec(['rpm-ostree', 'rebase', unverified(large.reference)])
    const isBusy = async () => (await machine.exec(['test', '-e', '/run/osimage-transaction'])).code === 0
    await expect.poll(isBusy, { timeout: 60_000, interval: 10 }).toBe(true)
    const second = await machine.exec(['rpm-ostree', 'rebase', unverified(four.reference)])
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('Transaction in progress: rebase') })
    await machine.run(['rpm-ostree', 'cancel'])
    expect(await pull).toMatchObject({ code: 1, stderr: expect.stringContaining('Operation was cancelled') })
  })

  test('loses what was staged when the power goes', async () => {
    await rebase(four)
    expect((await deployments())[0]).toMatchObject({ version: '4.0', staged: true })
    await machine.powerLoss()
    await machine.boot()
    expect((await deployments()).some(({ staged }) => staged)).toBe(false)
    expect(await version()).toBe('3.0')
  })

  test('follows a tag that moves, and back, by bootc', async () => {
    await registry.retag(three.repository, '3.0', 'stable')
    await machine.run(['bootc', 'switch', `${registry.address}/${three.repository}:stable`])
    await machine.reboot()
    await registry.retag(three.repository, '4.0', 'stable')
    await machine.run(['bootc', 'upgrade'])
    await machine.reboot()
    expect((await bootc()).status).toMatchObject({
      booted: { image: { version: '4.0', imageDigest: four.digest } },
      rollback: { image: { version: '3.0' } },
    })
    await machine.run(['bootc', 'rollback'])
    expect(await bootc()).toMatchObject({ spec: { bootOrder: 'rollback' }, status: { rollbackQueued: true } })
    await machine.reboot()
    expect(await version()).toBe('3.0')
  })

  test('does not boot what was only downloaded, until it is told to', async () => {
    await makeOsImage(registry, { version: '3.1' })
    await registry.retag(three.repository, '3.1', 'stable')
    await machine.run(['bootc', 'upgrade', '--download-only'])
    await machine.reboot()
    expect(await version()).toBe('3.0')
    await machine.run(['bootc', 'upgrade', '--download-only'])
    await machine.run(['bootc', 'upgrade', '--from-downloaded'])
    await machine.reboot()
    expect(await version()).toBe('3.1')
  })

  test('takes a digest for a name', async () => {
    await machine.run(['rpm-ostree', 'rebase', unverified(four.pinned)])
    await machine.reboot()
    const [booted] = await deployments()
    expect(booted).toMatchObject({ booted: true, 'container-image-reference': unverified(four.pinned) })
    expect(await version()).toBe('4.0')
  })
})

describe('a machine with a small disk', () => {
  test('refuses an image that does not fit, and works on', async () => {
    const [small, large] = [
      await makeOsImage(registry, { version: '3.0' }),
      await makeOsImage(registry, { version: '6.1', extraMegabytes: 200 }),
    ]
    const machine = await bootImageMachine(bed, registry, { image: small, diskMegabytes: 450 })
    const { code, stderr } = await machine.exec(['bootc', 'switch', large.reference])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/min-free-space.* would be exceeded/) })
    await machine.reboot()
    expect(await machine.run(['systemctl', 'is-active', 'kubelet'])).toBe('active\n')
    await machine.destroy()
  })
})

describe('a signature', () => {
  let machine: Machine
  let key: ImageKey
  let stranger: ImageKey

  beforeAll(async () => {
    key = makeImageKey()
    stranger = makeImageKey()
    machine = await bootImageMachine(bed, registry, { image: await makeOsImage(registry, { version: '7.0' }) })
    const signed = { type: 'sigstoreSigned', keyPath: '/etc/key.pub', signedIdentity: { type: 'matchRepository' } }
    await machine.writeFile('/etc/key.pub', key.publicKey)
    await machine.writeFile('/etc/policy.json', JSON.stringify({ default: [signed] }))
    await machine.writeFile(
      '/etc/containers/registries.d/bed.yaml',
      'default-docker: {use-sigstore-attachments: true}\n',
    )
  })

  afterAll(() => machine.destroy())

  const cases = [
    ['of the right key is accepted', async (image: PublishedImage) => signImage(registry, image, key), undefined],
    [
      'of another key is refused',
      async (image: PublishedImage) => signImage(registry, image, stranger),
      'cryptographic signature verification failed',
    ],
    ['that is missing is refused', async () => undefined, 'no signature exists'],
    [
      'that speaks of another image is refused',
      async (image: PublishedImage) => signImage(registry, image, key, { digest: `sha256:${'0'.repeat(64)}` }),
      'digest',
    ],
  ] as const

  test.each(cases)('%s by skopeo', async (name, sign, refusal) => {
    const image = await makeOsImage(registry, { version: `7.${cases.findIndex(([each]) => each === name) + 1}` })
    await sign(image)
    const copy = ['skopeo', '--policy', '/etc/policy.json', 'copy', `docker://${image.reference}`, 'dir:/var/tmp/copy']
    const { code, stderr } = await machine.exec(copy)
    if (refusal === undefined) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    else expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(refusal) })
  })
})

describe('a bed with such machines that is cut off', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s leaves nothing', async (signal) => {
    const program = fileURLToPath(new URL('os-bed-holder.ts', import.meta.url))
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(createInterface(child.stdout), 'line')
    const { slot, address } = JSON.parse(line) as { slot: BedSlot; address: string }
    const listeners = async () => (await execute(['ss', '-Hltn', 'src', address])).stdout
    expect(await listeners()).toContain(address)
    child.kill(signal)
    await once(child, 'exit')
    expect(leftoversOf(slot)).toEqual([])
    await expect.poll(listeners, { timeout: 60_000 }).toBe('')
  })
})
