import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dnfPackageManager } from '../../src/agent/packages/dnf/dnf-package-manager.ts'
import { packageJobEnv } from '../../src/agent/packages/exit-reasons.ts'
import type { StagedPackages } from '../../src/api/staged-packages.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { bootRpmMachine } from '../bed/rpm/rpm-machine.ts'
import { type RpmPackage, stubKubelet } from '../bed/rpm/rpm-package.ts'
import { publishRpms, writeRepositoryFile } from '../bed/rpm/rpm-repository.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { mustStage, runJob, runJobInto, stage } from './package-machine.ts'

const signal = new AbortController().signal

const library = (version: string): RpmPackage => ({
  name: 'lib',
  version,
  files: { '/usr/share/lib/version': version },
})
const tool = (version: string): RpmPackage => ({
  name: 'tool',
  version,
  requires: [`lib >= ${version}`],
  files: { '/usr/bin/tool': `#!/bin/sh\necho ${version}\n`, '/etc/tool.conf': `of ${version}\n` },
  afterInstall: 'sleep 0.5',
})
/** A program ends dnf or rpm in the middle of its script, when told to. */
const cutOff = (version: string): RpmPackage => ({
  name: 'cut-off',
  version,
  files: { '/usr/share/cut-off/version': version },
  afterInstall: `[ ! -e /root/cut-it-off ] || kill -KILL $PPID\necho ${version} >>/root/ran-to-the-end`,
})

let bed: Bed
let url: string
beforeAll(async () => {
  bed = await openBed()
  const kubelets = [stubKubelet('1.35.3'), stubKubelet('1.35.4'), stubKubelet('1.37.0', { broken: true })]
  const packages = [...kubelets, library('1.0'), library('2.0'), tool('1.0'), tool('2.0')]
  url = await publishRpms(bed, 'core:/stable:/v1.35/rpm', packages, {
    advisories: [
      { type: 'security', fixedBy: library('2.0') },
      { type: 'bugfix', fixedBy: tool('2.0') },
    ],
  })
  await publishRpms(bed, 'core:/stable:/v1.36/rpm', [stubKubelet('1.36.3')])
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

async function dnfMachine(): Promise<Machine> {
  const machine = await bootRpmMachine(bed, 'dnf')
  await writeRepositoryFile(machine, { name: 'kubernetes', url, exclude: ['kubelet'] })
  return machine
}

const managerOf = (machine: Machine) => dnfPackageManager(hostOfMachine(machine), 'dnf')

/** The program sleeps, and has the lock of dnf, until the unit lock-holder is stopped. */
async function lockFor(machine: Machine, program: string): Promise<void> {
  await machine.run(['systemd-run', '--quiet', '--unit=lock-holder', program, 'infinity'])
  const holder = (await machine.run(['systemctl', 'show', '--property=MainPID', '--value', 'lock-holder'])).trim()
  await machine.writeFile('/var/lib/dnf/rpmdb_lock.pid', holder)
}

const runImpatiently = (machine: Machine, job: readonly string[]) =>
  machine.exec([...job.slice(0, -1), '0'], { env: packageJobEnv })

describe('dnf on a booted machine', () => {
  it('goes to the next minor version, keeps the lock and edited files, and back', async () => {
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const first = await mustStage(manager, { wanted: [{ name: 'kubelet', version: '1.35.4', hold: true }] })
    expect(await manager.missing(first, signal)).toBe('kubelet 1.35.4-150500.1.1 is not installed')
    expect(await runJob(machine, manager, first)).toMatchObject({ code: 0 })
    expect(await manager.missing(first, signal)).toBeUndefined()
    await machine.writeFile('/etc/sysconfig/kubelet', 'edited by a person\n')

    const [change] = await manager.kubernetesRepositories({ major: 1, minor: 36 }, signal)
    const sources = { from: 'Host' as const, with: [{ path: change?.path ?? '', content: change?.after ?? '' }] }
    const next = await mustStage(manager, { sources, wanted: [{ name: 'kubelet', version: '1.36.3' }] })
    expect(next.packages).toMatchObject([
      { name: 'kubelet', previous: '1.35.4-150500.1.1', version: '1.36.3-150500.1.1', wanted: true, held: true },
    ])
    const folder = '/var/lib/slipway/staging/back'
    const back = await manager.stageReturn(next, { folder, sources: { from: 'Host' } }, signal)
    if (!back.ok) throw new Error(back.reason.message)
    expect(await machine.readFile(change?.path ?? '')).toBe(change?.before)
    await machine.unplug()
    for (const [staged, said] of [
      [next, 'Kubernetes v1.36.3\n'],
      [back.staged, 'Kubernetes v1.35.4\n'],
    ] as const) {
      expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
      expect(await manager.missing(staged, signal)).toBeUndefined()
      expect(await machine.run(['kubelet', '--version'])).toBe(said)
      expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    }
    expect(await machine.readFile('/etc/sysconfig/kubelet')).toBe('edited by a person\n')
    await machine.destroy()
  })

  it('says what can never work, and what may pass', async () => {
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    expect(await stage(manager, { wanted: [{ name: 'kubelet', version: '1.35.9' }] })).toMatchObject({
      reason: { code: 'VersionUnknown', message: expect.stringContaining('1.35.4-150500.1.1, 1.35.3-150500.1.1') },
    })
    const old = await mustStage(manager, {
      wanted: [
        { name: 'tool', version: '1.0' },
        { name: 'lib', version: '1.0', hold: true },
      ],
    })
    expect(await runJob(machine, manager, old)).toMatchObject({ code: 0 })
    expect(await stage(manager, { wanted: [{ name: 'tool', version: '2.0' }] })).toMatchObject({
      reason: { code: 'PackageHeld', message: expect.stringContaining('lib') },
    })
    expect(await stage(manager, { wanted: [], unwanted: [{ name: 'lib', purge: false }] })).toMatchObject({
      reason: { code: 'PackageConflict', message: expect.stringContaining('tool') },
    })
    const bad = await publishRpms(bed, 'bad', [tool('3.0'), library('3.0')], { signer: 'stranger' })
    const repository = (address: string, index: 0 | 1) => ({
      from: 'Host' as const,
      with: [
        {
          path: '/etc/yum.repos.d/x.repo',
          content: `[x]\nname=x\nbaseurl=${address}\ngpgcheck=1\nrepo_gpgcheck=${index}\ngpgkey=${url}/repodata/repomd.xml.key\n`,
        },
      ],
    })
    const wanted = [{ name: 'tool', version: '3.0' }, { name: 'lib' }]
    for (const index of [0, 1] as const) {
      const untrusted = await stage(manager, { sources: repository(bad, index), wanted })
      expect(untrusted).toMatchObject({ reason: { code: 'RepositoryUntrusted' } })
    }
    const missing = await stage(manager, { sources: repository(`${bed.repositories.url}/nothing`, 0), wanted })
    expect(missing).toMatchObject({ reason: { code: 'RepositoryMissing' } })
    const away = stage(manager, { sources: repository(`http://${bed.address}:9/x`, 0), wanted })
    await expect(away).rejects.toMatchObject({ code: 'StagingFailed' })
    await machine.destroy()
  })

  it('sees a scriptlet that failed, though dnf ends well', async () => {
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const staged = await mustStage(manager, { wanted: [{ name: 'kubelet', version: '1.37.0' }] })
    for (const _start of [1, 2]) {
      expect((await runJob(machine, manager, staged)).code).not.toBe(0)
      expect(await manager.missing(staged, signal)).toContain('a scriptlet failed')
    }
    await machine.destroy()
  })

  it('is made good after a power loss at any moment', async () => {
    const machine = await dnfMachine()
    for (const [index, ms] of [700, 1000, 1300, 1600].entries()) {
      const version = index % 2 === 0 ? '2.0' : '1.0'
      const wanted = ['tool', 'lib'].map((name) => ({ name, version }))
      const before = managerOf(machine)
      const staged = await mustStage(before, { wanted, folder: `/var/lib/slipway/staging/${index}` })
      const job = runJob(machine, before, staged).catch(() => undefined)
      await pause(ms)
      await machine.powerLoss()
      await job
      await machine.boot()
      const manager = managerOf(machine)
      expect(await runJob(machine, manager, staged), `after ${ms} ms`).toMatchObject({ code: 0 })
      expect(await manager.missing(staged, signal), `after ${ms} ms`).toBeUndefined()
      expect(await machine.run(['rpm', '-q', 'tool', 'lib'])).toMatch(/^tool-\S+\nlib-\S+\n$/)
    }
    await machine.destroy()
  })

  it('repairs what somebody else’s killed transaction left twice, and refuses what it cannot', async () => {
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const versions = ['1.0', '2.0', '3.0'].map(cutOff)
    const offer = async (packages: readonly RpmPackage[]) =>
      await writeRepositoryFile(machine, { name: 'more', url: await publishRpms(bed, 'more', packages) })
    const cutOffAt = async (...install: readonly string[]) => {
      await machine.writeFile('/root/cut-it-off', '')
      expect((await machine.exec(install)).code).not.toBe(0)
      await machine.run(['rm', '/root/cut-it-off'])
      expect((await machine.run(['rpm', '-q', 'cut-off'])).trim().split('\n')).toHaveLength(2)
    }
    await offer(versions)
    await machine.run(['dnf', '-y', '-q', 'install', 'cut-off-1.0', 'tool-1.0'])

    await cutOffAt('dnf', '-y', '-q', 'install', 'cut-off-2.0')
    await offer(versions.filter(({ version }) => version !== '2.0'))
    expect(await stage(manager, { wanted: [{ name: 'cut-off', version: '2.0' }] })).toMatchObject({
      reason: { code: 'PackagesBroken', message: expect.stringContaining('of cut-off, ') },
    })
    await offer(versions)
    const asked = await mustStage(manager, { wanted: [{ name: 'cut-off', version: '2.0' }] })
    expect(await manager.missing(asked, signal)).toBe('cut-off 2.0-1 is half-installed')
    await machine.run(['cp', '/usr/bin/sleep', '/root/dnf-of-another'])
    await lockFor(machine, '/root/dnf-of-another')
    const { code, stdout } = await runImpatiently(machine, manager.jobArgv(asked))
    expect(stdout).toMatch(/^waiting: the package manager is in use by process [0-9]+ \(dnf-of-another\)$/m)
    expect(code).toBe(75)
    await machine.run(['systemctl', 'stop', 'lock-holder'])
    for (const _start of [1, 2]) {
      expect(await runJob(machine, manager, asked)).toMatchObject({ code: 0 })
      expect(await manager.missing(asked, signal)).toBeUndefined()
    }
    expect(await machine.run(['rpm', '-q', '--qf', '%{version} ', 'cut-off'])).toBe('2.0 ')
    expect(await machine.readFile('/root/ran-to-the-end')).toMatch(/^1\.0\n(2\.0\n)+$/)

    await machine.run(['dnf', '-y', '-q', 'download', '--destdir=/root', 'cut-off-3.0'])
    await cutOffAt('sh', '-c', 'rpm -U /root/cut-off-3.0-1.*.rpm')
    const unasked = await mustStage(manager, {
      wanted: [{ name: 'tool', version: '2.0' }],
      folder: '/var/lib/slipway/two',
    })
    await machine.unplug()
    expect(await runJob(machine, manager, unasked)).toMatchObject({ code: 0 })
    expect(await manager.missing(unasked, signal)).toBeUndefined()
    const found = await machine.run(['rpm', '-q', '--qf', '%{name} %{version}\n', 'cut-off', 'lib', 'tool'])
    expect(found).toBe('cut-off 3.0\nlib 2.0\ntool 2.0\n')
    await machine.run(['dnf', '-q', '--disablerepo=*', 'check'])
    await machine.destroy()
  })

  it('waits for the lock and names who has it', async () => {
    const words = '/run/waiting-job'
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const staged = await mustStage(manager, { wanted: [{ name: 'tool', version: '2.0' }] })
    await lockFor(machine, '/usr/bin/sleep')
    const { code, stdout } = await runImpatiently(machine, manager.jobArgv(staged))
    expect(stdout).toMatch(/^waiting: the package manager is in use by process [0-9]+ \(sleep\)$/m)
    expect(code).toBe(75)
    const waiting = runJobInto(words, machine, manager, staged)
    await expect.poll(async () => (await machine.exec(['cat', words])).stdout).toContain('waiting: ')
    expect((await machine.exec(['rpm', '-q', 'tool'])).code).not.toBe(0)
    await machine.run(['systemctl', 'stop', 'lock-holder'])
    expect(await waiting).toMatchObject({ code: 0 })
    expect(await manager.missing(staged, signal)).toBeUndefined()
    await machine.destroy()
  })

  it('takes security updates only, as the advisories of its repositories say', async () => {
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const wanted = ['tool', 'lib'].map((name) => ({ name, version: '1.0' }))
    expect(await runJob(machine, manager, await mustStage(manager, { wanted }))).toMatchObject({ code: 0 })
    const request = { folder: '/var/lib/slipway/staging/security', sources: { from: 'Host' as const }, except: [] }
    const upgrade = async (upgrade: 'Security' | 'All') => {
      const result = await manager.stageUpgrade({ ...request, upgrade }, signal)
      if (!result.ok) throw new Error(result.reason.message)
      return result.staged
    }
    const named = ({ packages }: StagedPackages) => packages.map(({ name, version }) => `${name} ${version}`)
    expect(named(await upgrade('All'))).toEqual(['lib 2.0-1', 'tool 2.0-1'])
    const fixes = await upgrade('Security')
    expect(named(fixes)).toEqual(['lib 2.0-1'])
    expect(await runJob(machine, manager, fixes)).toMatchObject({ code: 0 })
    expect(await machine.run(['rpm', '-q', '--qf', '%{name} %{version}\\n', 'lib', 'tool'])).toBe('lib 2.0\ntool 1.0\n')
    expect(named(await upgrade('Security'))).toEqual([])
    await machine.destroy()
  })

  it('upgrades all but the exceptions, and takes all from a bundle', async () => {
    const bundle = '/var/lib/bundle/packages/rpm'
    const machine = await dnfMachine()
    const manager = managerOf(machine)
    const old = ['tool', 'lib'].map((name) => ({ name, version: '1.0' }))
    const first = await mustStage(manager, { wanted: [...old, { name: 'kubelet', version: '1.35.3' }] })
    expect(await runJob(machine, manager, first)).toMatchObject({ code: 0 })
    await machine.run(['mkdir', '-p', bundle])
    await machine.run([
      'sh',
      '-c',
      'cd "$1" && dnf -q -y --disableexcludes=all download lib tool && createrepo_c -q .',
      'sh',
      bundle,
    ])
    const asked = bed.repositories.requests.length
    const folder = '/var/lib/slipway/staging/all'
    const sources = { from: 'Folder' as const, folder: bundle }
    const result = await manager.stageUpgrade({ folder, sources, upgrade: 'All', except: ['kubelet'] }, signal)
    if (!result.ok) throw new Error(result.reason.message)
    expect(bed.repositories.requests.length).toBe(asked)
    expect(result.staged.packages.map(({ name, version }) => `${name} ${version}`)).toEqual(['lib 2.0-1', 'tool 2.0-1'])
    expect(await runJob(machine, manager, result.staged)).toMatchObject({ code: 0 })
    expect(await manager.missing(result.staged, signal)).toBeUndefined()
    const none = await manager.stageUpgrade({ folder, sources, upgrade: 'Security', except: [] }, signal)
    expect(none).toMatchObject({ ok: true, staged: { packages: [] } })
    await machine.destroy()
  })
})
