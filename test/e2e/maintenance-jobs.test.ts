// The example jobs on a booted machine with real apt and systemd. containerd and Docker are stand-in packages: what is tried is
// how the scripts deal with packages, holds, restarts and a service that does not come up, not the runtimes.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bed, openBed } from '../bed/bed.ts'
import type { DebPackage } from '../bed/deb-package.ts'
import type { Machine } from '../bed/machine.ts'
import { tool } from './package-machine.ts'

let bed: Bed
beforeAll(async () => {
  bed = await openBed()
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

const timeoutMs = 120_000
const example = (name: string) =>
  readFileSync(new URL(`../../examples/maintenance-jobs/${name}.sh`, import.meta.url), 'utf8')

async function runExample(machine: Machine, name: string, env: Record<string, string> = {}) {
  await machine.writeFile(`/root/${name}.sh`, example(name), 0o755)
  const assignments = Object.entries(env).map(([key, value]) => `${key}=${value}`)
  return machine.exec(['env', ...assignments, `/root/${name}.sh`], { timeoutMs })
}

async function versionOf(machine: Machine, name: string): Promise<string> {
  const shown = await machine.run(['dpkg-query', '--show', name])
  return shown.trim().split('\t')[1] ?? ''
}

/** A package with a service of its own, and a program that answers as long as the service runs. */
function service(name: string, version: string, unit: string, program: string, answer = 'echo 1'): DebPackage {
  return {
    name,
    version,
    files: [
      {
        path: `/usr/lib/systemd/system/${unit}`,
        content: `[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=VERSION=${version}\n`,
      },
      { path: `/usr/bin/${program}`, content: `#!/bin/sh\nsystemctl -q is-active ${unit} && ${answer}\n`, mode: 0o755 },
    ],
  }
}

/** With the older versions installed from a repository that has the newer ones by now. */
async function machineWith(
  path: string,
  before: readonly DebPackage[],
  after: readonly DebPackage[],
): Promise<Machine> {
  const machine = await bed.machine()
  const url = await bed.publish(path, [...before])
  await bed.trust(machine, 'test', url)
  await machine.run(['apt-get', '-q', 'update'])
  await machine.run(['apt-get', '-q', '-y', 'install', ...before.map(({ name }) => name)])
  await bed.publish(path, [...after])
  return machine
}

describe('os-package-upgrade', () => {
  it('upgrades what is not ours and not held, and says when there is nothing left', {
    timeout: timeoutMs,
  }, async () => {
    const names = ['editor', 'held-tool', 'kubelet']
    const at = (version: string) => names.map((name) => tool(name, version))
    const machine = await machineWith('jobs/os', at('1.0'), at('1.1'))
    await machine.run(['apt-mark', 'hold', 'held-tool'])
    const first = await runExample(machine, 'os-package-upgrade')
    expect(first.code, first.stderr).toBe(0)
    expect(await Promise.all(names.map((name) => versionOf(machine, name)))).toEqual(['1.1', '1.0', '1.0'])
    expect(first.stdout).toContain('left alone: kubelet')
    expect((await machine.run(['apt-mark', 'showhold'])).trim()).toBe('held-tool')
    const second = await runExample(machine, 'os-package-upgrade')
    expect(second.stdout).toContain('everything is up to date')
  })
})

describe.each([
  { job: 'containerd-upgrade', name: 'containerd.io', unit: 'containerd.service', program: 'ctr' },
  { job: 'docker-upgrade', name: 'docker-ce', unit: 'docker.service', program: 'docker' },
])('$job', ({ job, name, unit, program }) => {
  it('upgrades, restarts, and keeps the hold as it was', { timeout: timeoutMs }, async () => {
    const at = (version: string) => [service(name, version, unit, program)]
    const machine = await machineWith(`jobs/${job}`, at('1.0'), at('1.1'))
    await machine.run(['systemctl', 'start', unit])
    await machine.run(['apt-mark', 'hold', name])
    const result = await runExample(machine, job)
    expect(result.code, result.stderr).toBe(0)
    expect(await versionOf(machine, name)).toBe('1.1')
    expect(await machine.run(['systemctl', 'show', '-P', 'Environment', unit])).toContain('VERSION=1.1')
    expect((await machine.run(['apt-mark', 'showhold'])).trim()).toBe(name)
    expect((await runExample(machine, job)).stdout).toContain('newest on offer')
  })

  it('fails where it is not installed', { timeout: timeoutMs }, async () => {
    const machine = await bed.machine()
    expect((await runExample(machine, job)).code).toBe(1)
  })
})

describe('mark-for-reboot and systemd-validation', () => {
  it('ask for a reboot, and see a unit that failed', { timeout: timeoutMs }, async () => {
    const machine = await bed.machine()
    expect((await runExample(machine, 'mark-for-reboot')).code).toBe(0)
    expect((await machine.exec(['test', '-e', '/run/reboot-required'])).code).toBe(0)
    const well = await runExample(machine, 'systemd-validation')
    expect(well.code, well.stdout).toBe(0)
    await machine.exec([
      'systemd-run',
      '--quiet',
      '--unit=breaks',
      '--wait',
      '/bin/sh',
      '-c',
      'echo gone wrong; exit 3',
    ])
    const ill = await runExample(machine, 'systemd-validation')
    expect(ill.code).toBe(1)
    expect(ill.stdout).toContain('breaks.service failed')
    expect((await runExample(machine, 'systemd-validation', { IGNORED_UNITS: 'breaks.service' })).code).toBe(0)
  })
})
