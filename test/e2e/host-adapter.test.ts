// The host adapter over a booted machine: its files, its facts, its boots.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'

const never = new AbortController().signal
const plain = { mode: 0o640, owner: 'root', group: 'adm' }
let bed: Bed
let machine: Machine

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine()
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

describe('files of a machine', () => {
  it('are written as the machine sees them', async () => {
    const { files } = hostOfMachine(machine)
    await machine.run(['ln', '-s', '/srv', '/etc/absolute'])
    await files.write('/etc/absolute/deep/a', 'content', plain)
    expect(await machine.run(['stat', '-c', '%U %G %a', '/srv/deep/a'])).toBe('root adm 640\n')
    expect(await files.look('/srv/deep/a')).toMatchObject({ kind: 'file', owner: 'root', group: 'adm', mode: 0o640 })
  })

  it('stay as they were when the disk is full, and nothing is left', async () => {
    const { files } = hostOfMachine(machine)
    await machine.run(['mkdir', '/small'])
    await machine.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'small', '/small'])
    await files.write('/small/a', 'before', plain)
    await expect(files.write('/small/a', 'x'.repeat(100_000), plain)).rejects.toMatchObject({ code: 'DiskFull' })
    expect(await files.read('/small/a')).toBe('before')
    expect(await files.names('/small')).toEqual(['a'])
    expect(await files.freeBytes('/small/to/come')).toBeLessThan(65_536)
  })

  it('are watched by notification across the namespaces', async () => {
    const { files } = hostOfMachine(machine)
    const stop = new AbortController()
    let changes = 0
    const watching = files.watch(['/var/run/sentinel'], () => void changes++, stop.signal)
    const happens = async () => {
      await machine.run(['rm', '-f', '/run/sentinel'])
      await machine.run(['touch', '/run/sentinel'])
      return changes
    }
    await expect.poll(happens).toBeGreaterThan(0)
    stop.abort()
    await watching
  })
})

describe('facts of a machine', () => {
  it('are what its own tools say', async () => {
    const url = await bed.publish('kubernetes', [
      { name: 'kubeadm', version: '1.36.3-1.1' },
      { name: 'kubeadm', version: '1.36.10-1.1' },
    ])
    await bed.trust(machine, 'kubernetes', url)
    await machine.run(['apt-get', 'update'])
    await machine.writeFile('/usr/local/bin/kubelet', '#!/bin/sh\necho Kubernetes v1.36.3\n', 0o755)
    await machine.writeFile('/var/run/reboot-required.pkgs', 'libc6\n')
    await machine.writeFile('/var/run/reboot-required', '')
    expect(await hostOfMachine(machine).facts(never)).toMatchObject({
      os: 'Debian GNU/Linux 12 (bookworm)',
      packageManager: 'apt',
      kubelet: 'v1.36.3',
      versionsOnOffer: ['v1.36.3', 'v1.36.10'],
      rebootRequired: 'wanted by libc6',
    })
  })
})

describe('boots of a machine', () => {
  it('are told apart by the machine’s own boot id', async () => {
    const before = await hostOfMachine(machine).bootId()
    expect(before).toBe(await machine.bootId())
    const stop = new AbortController()
    const asked = hostOfMachine(machine).reboot(stop.signal)
    asked.catch(() => undefined)
    await machine.waitForNewBoot(before)
    stop.abort(new Error('the agent went down with the machine'))
    await expect(asked).rejects.toThrow()
    expect(await hostOfMachine(machine).bootId()).not.toBe(before)
  })
})
