import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bed, openBed } from '../../bed/bed.ts'
import type { Machine } from '../../bed/machine.ts'
import { bootRpmMachine } from '../../bed/rpm/rpm-machine.ts'
import { stubKubelet } from '../../bed/rpm/rpm-package.ts'
import { publishRpms, writeRepositoryFile } from '../../bed/rpm/rpm-repository.ts'

const packages = [stubKubelet('1.35.4'), stubKubelet('1.36.3'), stubKubelet('1.37.0', { broken: true })]
let bed: Bed
let url: string

beforeAll(async () => {
  bed = await openBed()
  url = await publishRpms(bed, 'right', packages)
})

afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

async function kubeletOf(machine: Machine): Promise<string> {
  return (await machine.run(['kubelet', '--version'])).trim()
}

describe('a machine with dnf', () => {
  let machine: Machine

  beforeAll(async () => {
    machine = await bootRpmMachine(bed, 'dnf')
    await writeRepositoryFile(machine, { name: 'kubernetes', url, exclude: ['kubelet'] })
  })

  afterAll(() => machine.destroy())

  const dnf = async (...words: string[]) => (await machine.exec(['dnf', '-y', '-q', ...words])).code
  const dnfAll = (...words: string[]) => dnf('--disableexcludes=kubernetes', ...words)

  test('does not see what is excluded', async () => {
    expect(await dnf('install', 'kubelet-1.35.4')).toBe(1)
  })

  test('installs an exact version, which systemd runs', async () => {
    expect(await dnfAll('install', 'kubelet-1.35.4')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.35.4')
    await machine.run(['systemctl', 'enable', '--now', 'kubelet'])
    await machine.reboot()
    expect(await machine.run(['systemctl', 'is-active', 'kubelet'])).toBe('active\n')
  })

  test('says 100 when there is something newer', async () => {
    expect(await dnfAll('check-update')).toBe(100)
  })

  test('holds a locked version: 0 and nothing done for an upgrade, 1 for a version', async () => {
    expect(await dnfAll('versionlock', 'add', 'kubelet')).toBe(0)
    expect(await dnfAll('upgrade', 'kubelet')).toBe(0)
    expect(await dnfAll('install', 'kubelet-1.36.3')).toBe(1)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.35.4')
    expect(await dnfAll('versionlock', 'delete', 'kubelet')).toBe(0)
  })

  test('upgrades, downgrades and undoes', async () => {
    expect(await dnfAll('install', 'kubelet-1.36.3')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.36.3')
    expect(await dnfAll('downgrade', 'kubelet-1.35.4')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.35.4')
    expect(await dnfAll('history', 'undo', 'last')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.36.3')
  })

  test('says 0 for a package whose script fails', async () => {
    expect(await dnfAll('install', 'kubelet-1.37.0')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.37.0')
  })

  test.each(['stranger', 'nobody'] as const)('refuses what %s has signed', async (signer) => {
    const wrong = await publishRpms(bed, signer, packages, { signer })
    await writeRepositoryFile(machine, { name: 'kubernetes', url: wrong })
    expect(await dnf('install', 'kubelet-1.36.3')).toBe(1)
    await writeRepositoryFile(machine, { name: 'kubernetes', url: wrong, isIndexChecked: false })
    const packageAlone = await machine.exec(['dnf', '-y', '-q', 'downgrade', 'kubelet-1.36.3'])
    expect(packageAlone).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not (correct|signed)|GPG check FAILED/),
    })
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.37.0')
  })

  test('takes the same from the right repository', async () => {
    await writeRepositoryFile(machine, { name: 'kubernetes', url })
    expect(await dnf('install', 'kubelet-1.36.3')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.36.3')
  })
})

describe('a machine with zypper', () => {
  let machine: Machine

  beforeAll(async () => {
    machine = await bootRpmMachine(bed, 'zypper')
    await machine.run(['zypper', '-n', 'addrepo', url, 'kubernetes'])
    await machine.run(['zypper', '-n', '--gpg-auto-import-keys', 'refresh'])
  })

  afterAll(() => machine.destroy())

  const zypper = async (...words: string[]) => (await machine.exec(['zypper', '-n', ...words])).code

  test('installs an exact version, and says 104 for one that is not there', async () => {
    expect(await zypper('install', 'kubelet=1.35.4')).toBe(0)
    expect(await zypper('install', 'kubelet=9.9')).toBe(104)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.35.4')
  })

  test('says 4 for a locked package', async () => {
    expect(await zypper('addlock', 'kubelet')).toBe(0)
    expect(await zypper('install', 'kubelet=1.36.3')).toBe(4)
    expect(await zypper('removelock', 'kubelet')).toBe(0)
  })

  test('upgrades and downgrades', async () => {
    expect(await zypper('install', 'kubelet=1.36.3')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.36.3')
    expect(await zypper('install', '--oldpackage', 'kubelet=1.35.4')).toBe(0)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.35.4')
  })

  test('says 107 for a package whose script fails', async () => {
    expect(await zypper('install', 'kubelet=1.37.0')).toBe(107)
    expect(await kubeletOf(machine)).toBe('Kubernetes v1.37.0')
  })
})
