import { createHash, randomBytes } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FileBundles } from '../../src/adapters/bundle/file-bundles.ts'
import { binaryDriver } from '../../src/agent/drivers/binary/binary-driver.ts'
import { bundleDriver } from '../../src/agent/drivers/bundle/bundle-driver.ts'
import { kubectlDriver } from '../../src/agent/drivers/kubectl/kubectl-driver.ts'
import { packagesDriver } from '../../src/agent/drivers/packages/packages-driver.ts'
import type { Order } from '../../src/api/node-state.ts'
import type { Work } from '../../src/api/work.ts'
import type { Download } from '../../src/ports/download.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { writeImageArchive } from '../bed/container-image.ts'
import { buildDeb, type DebPackage } from '../bed/deb-package.ts'
import type { Machine } from '../bed/machine.ts'
import { nodeTemplate, trustPackages } from '../bed/node-template.ts'
import { bootRpmMachine } from '../bed/rpm/rpm-machine.ts'
import type { RpmPackage } from '../bed/rpm/rpm-package.ts'
import { publishRpms } from '../bed/rpm/rpm-repository.ts'
import { olderKubernetesVersion } from '../bed/versions.ts'
import { tool } from './package-machine.ts'
import { ResidentAgent } from './resident-agent.ts'

const never = new AbortController().signal
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
const program = '#!/bin/sh\necho k3s version v1.36.3+k3s1\n'
const noNetwork: Download = { fetch: () => Promise.reject(new Error('nothing may be fetched')) }

let bed: Bed
let folder: string
beforeAll(async () => {
  bed = await openBed()
  folder = await mkdtemp(join(bed.slot.folder, 'bundles-'))
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

/** The folder a bundle is made of. */
async function layOut(name: string, debs: readonly DebPackage[]): Promise<string> {
  const root = join(folder, name)
  for (const each of ['packages/deb', 'images', 'binaries', 'empty']) await mkdir(join(root, each), { recursive: true })
  for (const deb of debs) await buildDeb(deb, join(root, 'packages/deb'))
  await writeImageArchive(
    { name: `registry.bed/${name}:1`, root: join(root, 'empty'), entrypoint: ['/none'] },
    join(root, 'images/air.tar'),
  )
  await rm(join(root, 'empty'), { recursive: true })
  await writeFile(join(root, 'binaries/k3s'), program)
  return root
}

/** Makes it and brings it onto the machine, as on a stick; returns its SHA-256. */
async function bring(machine: Machine, root: string): Promise<string> {
  const output = `${root}.tar`
  const { sha256 } = await new FileBundles().create({ folder: root, output, architecture }, never)
  await copyFile(output, onMachine(machine, '/srv/bundle.tar'))
  return sha256
}

const rootOf = (machine: Machine) => `/proc/${machine.initPid()}/root`
const onMachine = (machine: Machine, path: string) => join(rootOf(machine), path)

function agentOn(machine: Machine): ResidentAgent {
  const bundles = new FileBundles(rootOf(machine))
  return new ResidentAgent(machine, () => [
    bundleDriver({ download: noNetwork, bundles }),
    packagesDriver,
    kubectlDriver,
    binaryDriver(noNetwork),
  ])
}

let orders = 0
function orderOf(sha256: string, work: Work): Order {
  return {
    id: `u-${++orders}`,
    update: 'u',
    nodeUID: 'node-uid',
    epoch: 1,
    role: 'Worker',
    offline: 'Refused',
    desired: 'Run',
    timeout: '10m',
    work: { bundle: { url: '/srv/bundle.tar', sha256 }, ...work },
  }
}

const kubectl = (version: string, more: Partial<DebPackage> = {}) => tool('kubectl', version, { architecture, ...more })
const toNewer: Work = { kubernetes: { version: 'v1.36.3', components: ['kubectl'] } }

describe('a machine with its cable pulled', () => {
  it('gets packages, images and programs from its bundle', async () => {
    const machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
    await trustPackages(bed, machine, olderKubernetesVersion)
    const held = await machine.run(['apt-mark', 'showhold'])
    await machine.unplug()
    const asked = bed.repositories.requests.length
    const root = await layOut('whole', [
      kubectl('1.36.3-1.1', { control: { Depends: 'of-bundle' } }),
      tool('of-bundle', '1.0'),
      tool('stranger', '1.0'),
    ])
    const sha256 = await bring(machine, root)
    await using agent = agentOn(machine)
    const binary = {
      name: 'k3s',
      url: 'https://files.test/k3s',
      path: '/usr/local/bin/k3s',
      sha256: createHash('sha256').update(program).digest('hex'),
    }
    const done = await agent.carryOut(orderOf(sha256, { ...toNewer, binary }))
    expect(done).toMatchObject({ state: 'Succeeded' })
    expect(await machine.run(['kubectl'])).toBe('kubectl 1.36.3-1.1\n')
    expect(await machine.run(['/usr/local/bin/k3s'])).toContain('v1.36.3+k3s1')
    expect(await machine.run(['ctr', '-n', 'k8s.io', 'images', 'ls', '-q'])).toContain('registry.bed/whole:1')
    expect(await machine.exec(['dpkg-query', '-W', 'stranger'])).toMatchObject({ code: 1 })
    expect(await machine.run(['apt-mark', 'showhold'])).toBe(held)
    expect(await machine.run(['dpkg', '--audit'])).toBe('')
    expect(bed.repositories.requests.length).toBe(asked)
    // What was unpacked went with the order; the bundle itself is not ours.
    expect(await machine.exec(['find', '/var/lib/slipway', '-name', '*.deb'])).toMatchObject({ stdout: '' })
    expect(await machine.exec(['test', '-e', '/srv/bundle.tar'])).toMatchObject({ code: 0 })

    const newer = await layOut('newer', [tool('of-bundle', '2.0')])
    const upgraded = await agent.carryOut(orderOf(await bring(machine, newer), { os: { packages: 'Security' } }))
    expect(upgraded).toMatchObject({ state: 'Succeeded' })
    expect(await machine.run(['of-bundle'])).toBe('of-bundle 2.0\n')
    await machine.destroy()
  })

  it('keeps its packages where the bundle is no good, and says why', async () => {
    const machine = await bed.machine()
    const older = await buildDeb(kubectl('1.35.4-1.1'), onMachine(machine, '/srv'))
    await machine.run(['dpkg', '-i', join('/srv', older.slice(older.lastIndexOf('/') + 1))])
    await machine.unplug()
    await using agent = agentOn(machine)
    const refused = async (sha256: string, code: string, message: string) => {
      const { state, reason } = await agent.carryOut(orderOf(sha256, toNewer))
      expect({ state, reason }).toMatchObject({
        state: 'Failed',
        reason: { code, message: expect.stringMatching(message) },
      })
      expect(await machine.run(['kubectl'])).toBe('kubectl 1.35.4-1.1\n')
      expect(await machine.run(['find', '/var/lib/slipway', '-name', 'bundle*'])).toBe('')
    }
    await refused('0'.repeat(64), 'BundleMissing', 'there is no bundle /srv/bundle.tar')
    const without = await layOut('without', [tool('other', '1.0')])
    await rm(join(without, 'images'), { recursive: true })
    await refused(await bring(machine, without), 'BundleIncomplete', 'does not hold kubectl 1.36.3')
    const lacking = await layOut('lacking', [kubectl('1.36.3-1.1', { control: { Depends: 'lost' } })])
    await rm(join(lacking, 'images'), { recursive: true })
    const sha256 = await bring(machine, lacking)
    await refused(sha256, 'BundleIncomplete', 'Depends: lost')
    await refused('0'.repeat(64), 'ContentMismatch', 'has SHA-256')
    await truncate(onMachine(machine, '/srv/bundle.tar'), 3000)
    await refused(sha256, 'BundleBroken', 'cut off')
    await bring(machine, lacking)
    await machine.run(['mkdir', '-p', '/var/lib/slipway'])
    await machine.run(['sh', '-c', 'mount -t tmpfs -o size=8m none /var/lib/slipway'])
    await refused(sha256, 'DiskTooFull', 'are needed')
    await machine.destroy()
  })

  it('whose disk fills up while it unpacks is left as it was', async () => {
    const machine = await bed.machine()
    const root = join(folder, 'large')
    await mkdir(join(root, 'images'), { recursive: true })
    await writeFile(join(root, 'images/large.tar'), randomBytes(16 * 1024 ** 2))
    const sha256 = await bring(machine, root)
    await machine.run(['mkdir', '/mnt/small'])
    await machine.run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', '/mnt/small'])
    const unpacking = new FileBundles(rootOf(machine)).unpack('/srv/bundle.tar', sha256, '/mnt/small/bundle', never)
    await expect(unpacking).rejects.toMatchObject({ code: 'DiskFull' })
    expect(await readdir(onMachine(machine, '/mnt/small'))).toEqual([])
    await machine.destroy()
  })
})

describe('a machine with dnf and its cable pulled', () => {
  it('gets packages from its bundle', async () => {
    const machine = await bootRpmMachine(bed, 'dnf')
    // Only the tools of the machine are Debian's.
    await machine.run(['mv', '/var/lib/dpkg/status', '/var/lib/dpkg/status-away'])
    const older = await publishRpms(bed, 'older', [kubectlRpm('1.35.4')], { signer: 'nobody' })
    await fetchRpm(older, 'kubectl-1.35.4-150500.1.1', onMachine(machine, '/srv'))
    await machine.run(['sh', '-c', 'rpm --force-debian -i /srv/*.rpm'])
    await machine.unplug()
    const newer = await publishRpms(
      bed,
      'newer',
      [kubectlRpm('1.36.3', ['lib >= 1.5', '/usr/share/lib/version']), libraryRpm],
      { signer: 'nobody' },
    )
    const packages = join(folder, 'rpms/packages/rpm')
    await mkdir(packages, { recursive: true })
    for (const name of ['kubectl-1.36.3-150500.1.1', 'lib-2.0-1']) await fetchRpm(newer, name, packages)
    const sha256 = await bring(machine, join(folder, 'rpms'))
    await using agent = agentOn(machine)
    expect(await agent.carryOut(orderOf(sha256, toNewer))).toMatchObject({ state: 'Succeeded' })
    expect(await machine.run(['kubectl'])).toBe('1.36.3\n')
    expect(await machine.run(['rpm', '-q', 'lib'])).toContain('lib-2.0')
    const unheard: Work = { kubernetes: { version: 'v1.36.9', components: ['kubectl'] } }
    expect(await agent.carryOut(orderOf(sha256, unheard))).toMatchObject({ reason: { code: 'BundleIncomplete' } })
    await machine.destroy()
  })
})

const libraryRpm: RpmPackage = { name: 'lib', version: '2.0', files: { '/usr/share/lib/version': '2.0' } }

function kubectlRpm(version: string, requires: readonly string[] = []): RpmPackage {
  const files = { '/usr/bin/kubectl': `#!/bin/sh\necho ${version}\n` }
  return { name: 'kubectl', version, release: '150500.1.1', requires, files }
}

async function fetchRpm(url: string, name: string, to: string): Promise<void> {
  const file = `${name}.${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.rpm`
  const answer = await fetch(`${url}/${file}`)
  expect(answer.status, file).toBe(200)
  await writeFile(join(to, file), Buffer.from(await answer.arrayBuffer()))
}
