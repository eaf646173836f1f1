import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aptPackageManager } from '../../src/agent/packages/apt/apt-package-manager.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { mustStage, runJob, stage, tool } from './package-machine.ts'

const signal = new AbortController().signal
const v135 = 'core:/stable:/v1.35/deb'
const v136 = 'core:/stable:/v1.36/deb'

let bed: Bed
beforeAll(async () => {
  bed = await openBed()
  await bed.publish(v136, [
    tool('kubelet', '1.36.3-1.1', { control: { Depends: 'kubernetes-cni (>= 1.6)' } }),
    tool('kubelet', '1.36.2-1.1'),
    tool('kubernetes-cni', '1:1.6.0-1.1'),
  ])
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

/** With kubelet 1.35.4 from the repository of its minor version, held as everybody holds it. */
async function kubernetesMachine(): Promise<Machine> {
  const machine = await bed.machine()
  const url = await bed.publish(v135, [
    tool('kubelet', '1.35.4-1.1', { control: { Depends: 'kubernetes-cni' } }),
    tool('kubelet', '1.35.3-1.1', { control: { Depends: 'kubernetes-cni' } }),
    tool('kubernetes-cni', '1.5.0-1.1'),
  ])
  await bed.trust(machine, 'kubernetes', url)
  await machine.run(['apt-get', 'update'])
  await machine.run(['apt-get', '-y', 'install', 'kubelet=1.35.4-1.1'])
  await machine.run(['apt-mark', 'hold', 'kubelet'])
  return machine
}

describe('apt on a booted machine', () => {
  it('goes to the next minor version, keeps hold, marks and edited files, and back', async () => {
    const machine = await kubernetesMachine()
    const manager = aptPackageManager(hostOfMachine(machine))
    await machine.writeFile('/etc/kubelet.conf', 'edited by a person\n')
    const sourcesBefore = await machine.readFile('/etc/apt/sources.list.d/kubernetes.list')
    const listsBefore = await machine.run(['ls', '/var/lib/apt/lists'])
    const marks = () =>
      machine.run(['sh', '-c', 'apt-mark showhold; echo; apt-mark showauto; echo; apt-mark showmanual'])
    const marksBefore = await marks()

    const [change] = await manager.kubernetesRepositories({ major: 1, minor: 36 }, signal)
    expect(change).toMatchObject({ path: '/etc/apt/sources.list.d/kubernetes.list', before: sourcesBefore })
    const staged = await mustStage(manager, {
      sources: { from: 'Host', with: [{ path: change?.path ?? '', content: change?.after ?? '' }] },
      wanted: [{ name: 'kubelet', version: '1.36.3' }],
    })
    expect(staged.packages).toMatchObject([
      {
        name: 'kubernetes-cni',
        previous: '1.5.0-1.1',
        version: '1:1.6.0-1.1',
        wanted: false,
        held: false,
        automatic: true,
      },
      { name: 'kubelet', previous: '1.35.4-1.1', version: '1.36.3-1.1', wanted: true, held: true, automatic: false },
    ])
    expect(await machine.readFile('/etc/apt/sources.list.d/kubernetes.list')).toBe(sourcesBefore)
    expect(await machine.run(['ls', '/var/lib/apt/lists'])).toBe(listsBefore)
    expect(await manager.missing(staged, signal)).toBe('kubernetes-cni is at 1.5.0-1.1, not at 1:1.6.0-1.1')

    // Nothing is fetched any more.
    await machine.unplug()
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    await machine.plugIn()
    expect(await manager.missing(staged, signal)).toBeUndefined()
    expect(await machine.run(['kubelet'])).toBe('kubelet 1.36.3-1.1\n')
    expect(await machine.readFile('/etc/kubelet.conf')).toBe('edited by a person\n')
    expect(await marks()).toBe(marksBefore)
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    expect(await marks()).toBe(marksBefore)

    const back = await mustStage(manager, {
      wanted: [
        { name: 'kubelet', version: '1.35.4-1.1' },
        { name: 'kubernetes-cni', version: '1.5.0-1.1' },
      ],
    })
    expect(await runJob(machine, manager, back)).toMatchObject({ code: 0 })
    expect(await manager.missing(back, signal)).toBeUndefined()
    expect(await marks()).toBe(marksBefore)
    await machine.destroy()
  })

  it.each(['stranger', 'nobody', 'tampered'] as const)(
    'uses nothing of a repository signed by %s',
    async (signedBy) => {
      const machine = await bed.machine()
      const url = await bed.publish(`bad-${signedBy}`, [tool('hello', '1.0')], { signedBy })
      await bed.trust(machine, 'bad', url)
      const manager = aptPackageManager(hostOfMachine(machine))
      const result = await stage(manager, { wanted: [{ name: 'hello' }] })
      expect(result).toMatchObject({ ok: false, reason: { code: 'RepositoryUntrusted' } })
      await machine.destroy()
    },
  )

  it('says what can never work, and what may pass', async () => {
    const machine = await kubernetesMachine()
    const manager = aptPackageManager(hostOfMachine(machine))
    const unknown = await stage(manager, { wanted: [{ name: 'kubelet', version: '1.35.9' }] })
    expect(unknown).toMatchObject({
      reason: {
        code: 'VersionUnknown',
        message: 'the host’s repositories do not offer kubelet 1.35.9; on offer: 1.35.4-1.1, 1.35.3-1.1',
      },
    })
    expect(await stage(manager, { wanted: [{ name: 'nothing' }] })).toMatchObject({
      reason: { code: 'VersionUnknown' },
    })

    const elsewhere = (address: string) => ({
      from: 'Host' as const,
      with: [
        {
          path: '/etc/apt/sources.list.d/x.list',
          content: `deb [signed-by=/etc/apt/keyrings/kubernetes.gpg] ${address} /\n`,
        },
      ],
    })
    const missing = await stage(manager, { sources: elsewhere(`${bed.repositories.url}/nothing`), wanted: [] })
    expect(missing).toMatchObject({ reason: { code: 'RepositoryMissing' } })
    const away = stage(manager, { sources: elsewhere(`http://${bed.address}:9/x`), wanted: [] })
    await expect(away).rejects.toMatchObject({ code: 'StagingFailed' })

    const inTheWay = { path: '/etc/apt/sources.list.d/kubernetes.list' }
    const content = (await machine.readFile(inTheWay.path)).replace('v1.35', 'v1.36')
    const sources = { from: 'Host' as const, with: [{ ...inTheWay, content }] }
    const wanted = [{ name: 'kubelet', version: '1.36.3' }]
    await machine.run(['apt-mark', 'hold', 'kubernetes-cni'])
    const held = await stage(manager, { sources, wanted })
    expect(held).toMatchObject({ reason: { code: 'PackageHeld', message: expect.stringContaining('kubernetes-cni') } })
    await machine.run(['apt-mark', 'unhold', 'kubernetes-cni'])

    await machine.run(['mkdir', '-p', '/small'])
    await machine.run(['mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', '/small'])
    const full = await stage(manager, { folder: '/small/one', sources, wanted })
    expect(full).toMatchObject({ reason: { code: 'DiskTooFull', message: expect.stringContaining('/small') } })
    await machine.exec(['dd', 'if=/dev/zero', 'of=/small/filler', 'bs=64k'])
    const fuller = await stage(manager, { folder: '/small/two', sources, wanted })
    expect(fuller).toMatchObject({ reason: { code: 'DiskTooFull' } })
    await machine.destroy()
  })

  it('goes on with a download that broke off', async () => {
    const machine = await bed.machine()
    const noise = Array.from({ length: 60_000 }, (_, index) => Math.imul(index, 2654435761) >>> 0).join('\n')
    const url = await bed.publish('large', [
      { name: 'large', version: '1.0', files: [{ path: '/opt/large', content: noise }] },
    ])
    await bed.trust(machine, 'large', url)
    const manager = aptPackageManager(hostOfMachine(machine))
    bed.repositories.bytesPerSecond = 20_000
    const broken = stage(manager, { wanted: [{ name: 'large' }] }).catch((error: unknown) => error)
    while (!bed.repositories.requests.some(({ path }) => path.endsWith('large_1.0_all.deb'))) await pause(50)
    await pause(500)
    await machine.run(['pkill', '-KILL', '-x', 'http'])
    expect(await broken).toMatchObject({ code: 'StagingFailed' })
    bed.repositories.bytesPerSecond = Number.POSITIVE_INFINITY
    const staged = await mustStage(manager, { wanted: [{ name: 'large' }] })
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    expect(await manager.missing(staged, signal)).toBeUndefined()
    await machine.destroy()
  })
})
