import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aptPackageManager } from '../../src/agent/packages/apt/apt-package-manager.ts'
import { packageJobEnv } from '../../src/agent/packages/exit-reasons.ts'
import { type Bed, type MachineOptions, openBed } from '../bed/bed.ts'
import type { DebPackage } from '../bed/deb-package.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { letLockGo, mustStage, runJob, runJobInto, stage, takeLock, tool } from './package-machine.ts'

const signal = new AbortController().signal

let bed: Bed
beforeAll(async () => {
  bed = await openBed()
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

const slow = (name: string, version: string) =>
  tool(name, version, { scripts: { preinst: '#!/bin/sh\nsleep 0.3\n', postinst: '#!/bin/sh\nsleep 0.3\n' } })

async function machineWith(
  path: string,
  before: readonly string[],
  offered: readonly DebPackage[],
  options: MachineOptions = {},
): Promise<Machine> {
  const machine = await bed.machine(options)
  await bed.trust(machine, 'tools', await bed.publish(path, offered))
  await machine.run(['apt-get', 'update'])
  if (before.length > 0) await machine.run(['apt-get', '-y', 'install', ...before])
  return machine
}

describe('the job of apt', () => {
  it('is made good after a power loss at any moment', async () => {
    const machine = await machineWith(
      'slow',
      ['a=1.0', 'b=1.0'],
      [slow('a', '1.0'), slow('b', '1.0'), slow('a', '2.0'), slow('b', '2.0')],
    )
    await machine.run(['apt-mark', 'hold', 'a'])
    const wanted = (version: string) => ['a', 'b'].map((name) => ({ name, version }))
    for (const [index, ms] of [600, 900, 1200, 1500, 1800, 2100].entries()) {
      const version = index % 2 === 0 ? '2.0' : '1.0'
      const before = aptPackageManager(hostOfMachine(machine))
      const staged = await mustStage(before, { wanted: wanted(version), folder: `/var/lib/slipway/staging/${index}` })
      const job = runJob(machine, before, staged).catch(() => undefined)
      await pause(ms)
      await machine.powerLoss()
      await job
      await machine.boot()
      const manager = aptPackageManager(hostOfMachine(machine))
      expect(await runJob(machine, manager, staged), `after ${ms} ms`).toMatchObject({ code: 0 })
      expect(await manager.missing(staged, signal), `after ${ms} ms`).toBeUndefined()
      expect(await machine.run(['apt-mark', 'showhold'])).toBe('a\n')
    }
    await machine.destroy()
  })

  it('repairs a package however it was left, at the old and at the new version', async () => {
    const states = [
      'reinstreq half-installed',
      'ok half-installed',
      'reinstreq unpacked',
      'ok unpacked',
      'ok half-configured',
    ]
    const machine = await machineWith('plain', ['a=1.0'], [tool('a', '1.0'), tool('a', '2.0')])
    const manager = aptPackageManager(hostOfMachine(machine))
    const wanted = [{ name: 'a', version: '2.0' }]
    const staged = await mustStage(manager, { wanted, folder: '/var/lib/slipway/staging/before' })
    for (const [state, at] of states.flatMap(
      (each) =>
        [
          [each, '1.0'],
          [each, '2.0'],
        ] as const,
    )) {
      await leaveAs(machine, 'a', at, state)
      expect(await manager.missing(staged, signal), state).toBe(`a ${at} is half-installed`)
      // An order that comes now is staged as well.
      const again = await mustStage(manager, { wanted })
      expect(again.packages, state).toMatchObject([{ name: 'a', version: '2.0' }])
      // At the old version the order goes on that was cut off; at the new one, both.
      for (const each of at === '1.0' ? [staged] : [staged, again]) {
        await leaveAs(machine, 'a', at, state)
        expect(await runJob(machine, manager, each), state).toMatchObject({ code: 0 })
        expect(await manager.missing(staged, signal), state).toBeUndefined()
      }
    }
    await machine.destroy()
  })

  it('refuses while another package is beyond repair', async () => {
    const machine = await machineWith('plain', ['a=1.0', 'b'], [tool('a', '1.0'), tool('a', '2.0'), tool('b', '1.0')])
    await leaveAs(machine, 'b', '1.0', 'reinstreq half-installed')
    const result = await stage(aptPackageManager(hostOfMachine(machine)), { wanted: [{ name: 'a', version: '2.0' }] })
    expect(result).toMatchObject({ reason: { code: 'PackagesBroken', message: expect.stringContaining('b 1.0') } })
    await machine.destroy()
  })

  it('waits for the lock and names who has it', async () => {
    const words = '/run/waiting-job'
    const machine = await machineWith('plain', ['a=1.0'], [tool('a', '1.0'), tool('a', '2.0')])
    const manager = aptPackageManager(hostOfMachine(machine))
    await takeLock(machine)
    // Staging needs no lock.
    const staged = await mustStage(manager, { wanted: [{ name: 'a', version: '2.0' }] })
    const impatient = [...manager.jobArgv(staged).slice(0, -1), '0']
    const { code, stdout } = await machine.exec(impatient, { env: packageJobEnv })
    expect(stdout).toMatch(/^waiting: the package manager is in use by process [0-9]+ \(perl\)$/m)
    expect(code).toBe(75)
    const waiting = runJobInto(words, machine, manager, staged)
    await expect.poll(async () => (await machine.exec(['cat', words])).stdout).toContain('waiting: ')
    expect(await machine.run(['a'])).toBe('a 1.0\n')
    await letLockGo(machine)
    expect(await waiting).toMatchObject({ code: 0 })
    expect(await manager.missing(staged, signal)).toBeUndefined()
    await machine.destroy()
  })

  it('does not install a file that is not the one that was staged', async () => {
    const machine = await machineWith('plain', ['a=1.0'], [tool('a', '1.0'), tool('a', '2.0')])
    const manager = aptPackageManager(hostOfMachine(machine))
    const staged = await mustStage(manager, { wanted: [{ name: 'a', version: '2.0' }] })
    await machine.run(['dd', `of=${staged.packages[0]?.file}`, 'bs=1', 'seek=300', 'conv=notrunc'], { input: 'spoilt' })
    expect((await runJob(machine, manager, staged)).code).not.toBe(0)
    expect(await machine.run(['a'])).toBe('a 1.0\n')
    // Staged again it is fetched anew.
    await expect(stage(manager, { wanted: [{ name: 'a', version: '2.0' }] })).rejects.toMatchObject({
      code: 'StagingFailed',
    })
    await mustStage(manager, { wanted: [{ name: 'a', version: '2.0' }] })
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    await machine.destroy()
  })

  it('removes what is unwanted, and nothing else', async () => {
    const offered = [
      tool('a', '1.0'),
      tool('needs-a', '1.0', { control: { Depends: 'a' } }),
      tool('instead', '1.0', { control: { Conflicts: 'a' } }),
    ]
    const machine = await machineWith('remove', ['a', 'needs-a'], offered)
    const manager = aptPackageManager(hostOfMachine(machine))
    const gone = (name: string) => ({ name, purge: true })
    const refused = await stage(manager, { wanted: [], unwanted: [gone('a')] })
    expect(refused).toMatchObject({ reason: { code: 'PackageConflict', message: expect.stringContaining('needs-a') } })
    const staged = await mustStage(manager, {
      wanted: [{ name: 'instead', hold: true }],
      unwanted: [gone('a'), gone('needs-a')],
    })
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    expect(await manager.missing(staged, signal)).toBeUndefined()
    expect(await machine.run(['apt-mark', 'showhold'])).toBe('instead\n')
    expect(await machine.exec(['test', '-e', '/etc/a.conf'])).toMatchObject({ code: 1 })
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    await machine.destroy()
  })

  it('takes all from a bundle and asks nobody else', async () => {
    await bed.publish('bundle', [tool('a', '2.0', { control: { Depends: 'of-bundle' } }), tool('of-bundle', '1.0')])
    const folder = '/var/lib/bundle/packages/deb'
    const machine = await machineWith('net', ['a=1.0'], [tool('a', '1.0'), tool('a', '3.0')], {
      binds: [{ from: join(bed.slot.folder, 'repositories/bundle'), to: folder, readOnly: true }],
    })
    const manager = aptPackageManager(hostOfMachine(machine))
    const asked = bed.repositories.requests.length
    const staged = await mustStage(manager, { sources: { from: 'Folder', folder }, wanted: [{ name: 'a' }] })
    expect(staged.packages.map(({ name, version }) => `${name} ${version}`)).toEqual(['of-bundle 1.0', 'a 2.0'])
    expect(bed.repositories.requests.length).toBe(asked)
    expect(await runJob(machine, manager, staged)).toMatchObject({ code: 0 })
    expect(await manager.missing(staged, signal)).toBeUndefined()
    await machine.destroy()
  })
})

/** As dpkg records a package whose installation was cut off. */
async function leaveAs(machine: Machine, name: string, version: string, state: string): Promise<void> {
  const status = await machine.readFile('/var/lib/dpkg/status')
  const changed = status
    .split('\n\n')
    .map((entry) =>
      entry.startsWith(`Package: ${name}\n`)
        ? entry.replace(/^Status: .*$/m, `Status: install ${state}`).replace(/^Version: .*$/m, `Version: ${version}`)
        : entry,
    )
    .join('\n\n')
  await machine.writeFile('/var/lib/dpkg/status', changed)
}
