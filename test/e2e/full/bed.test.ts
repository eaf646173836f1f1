import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bed, openBed } from '../../bed/bed.ts'
import { type BedSlot, leftoversOf } from '../../bed/bed-slot.ts'
import type { DebPackage } from '../../bed/deb-package.ts'
import type { Machine } from '../../bed/machine.ts'

let bed: Bed

beforeAll(async () => {
  bed = await openBed()
})

afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

describe('a machine', () => {
  let machine: Machine

  beforeAll(async () => {
    machine = await bed.machine()
  })

  afterAll(() => machine.destroy())

  test('runs systemd and gives back what a program says', async () => {
    expect(await machine.run(['ps', '-o', 'comm=', '-p', '1'])).toBe('systemd\n')
    const script = 'cat; echo "$WORD" >&2; exit 3'
    const execution = await machine.exec(['sh', '-c', script], { input: 'given', env: { WORD: 'said' } })
    expect(execution).toEqual({ code: 3, stdout: 'given', stderr: 'said\n' })
  })

  test('has no unit that failed', async () => {
    expect(await machine.run(['systemctl', '--failed', '--no-legend'])).toBe('')
  })

  test('kills a program that does not end, with its children', async () => {
    const endless = machine.exec(['sh', '-c', 'sleep 987 & sleep 987'], { timeoutMs: 300 })
    await expect(endless).rejects.toThrow('did not end in 300 ms')
    expect((await machine.exec(['pgrep', '-x', 'sleep'])).stdout).toBe('')
  })

  test('comes back from a reboot by itself, with a new boot id and its files', async () => {
    const before = await machine.bootId()
    await machine.writeFile('/etc/kept', 'kept', 0o600)
    await machine.reboot()
    expect(await machine.bootId()).not.toBe(before)
    expect(await machine.run(['stat', '-c', '%a', '/etc/kept'])).toBe('600\n')
    expect(await machine.readFile('/etc/kept')).toBe('kept')
  })

  test('ends every program when it reboots', async () => {
    const running = Array.from({ length: 5 }, () => machine.exec(['sleep', '987']))
    await machine.reboot()
    for (const { code } of await Promise.all(running)) expect(code).not.toBe(0)
  })

  test('stays off after a power loss until it is booted', async () => {
    const before = await machine.bootId()
    const running = machine.exec(['sleep', '987'])
    await machine.powerLoss()
    expect(machine.isOn).toBe(false)
    expect((await running).code).not.toBe(0)
    await expect(machine.run(['true'])).rejects.toThrow('node1 is off')
    await machine.boot()
    expect(await machine.bootId()).not.toBe(before)
  })

  test('can lose its power at any moment of a reboot', async () => {
    for (const afterMs of [0, 50, 150, 300]) {
      await machine.exec(['systemctl', 'reboot', '--no-block'])
      await wait(afterMs)
      await machine.powerLoss()
      expect(machine.isOn).toBe(false)
      await machine.boot()
    }
  })

  test('stays off after a power-off', async () => {
    await machine.exec(['systemctl', 'poweroff'])
    await expect.poll(() => machine.isOn, { timeout: 60_000 }).toBe(false)
    await machine.boot()
  })

  test('reaches the bed and its neighbours, unless its cable is pulled', async () => {
    const neighbour = await bed.machine()
    const reaches = async () => (await machine.exec(['ping', '-c', '1', '-W', '1', neighbour.name])).code === 0
    expect(await reaches()).toBe(true)
    await machine.unplug()
    expect(await reaches()).toBe(false)
    await machine.plugIn()
    await expect.poll(reaches, { timeout: 60_000 }).toBe(true)
    await neighbour.destroy()
    expect(bed.machines).toEqual([machine])
  })
})

describe('a package repository', () => {
  const greeting = (version: string): DebPackage => ({
    name: 'greeting',
    version,
    files: [{ path: '/usr/bin/greet', content: `#!/bin/sh\necho ${version}\n`, mode: 0o755 }],
  })
  const update = ['apt-get', 'update', '--error-on=any']
  let machine: Machine

  beforeAll(async () => {
    machine = await bed.machine()
  })

  afterAll(() => machine.destroy())

  test('offers what was published, and what is published later', async () => {
    const url = await bed.publish('right', [greeting('1.0')])
    await bed.trust(machine, 'right', url)
    await machine.run(update)
    await machine.run(['apt-get', 'install', '-y', 'greeting=1.0'])
    expect(await machine.run(['greet'])).toBe('1.0\n')
    await bed.publish('right', [greeting('2.0')])
    await machine.run(update)
    await machine.run(['apt-get', 'install', '-y', 'greeting=2.0'])
    expect(await machine.run(['greet'])).toBe('2.0\n')
    await machine.run(['apt-get', 'install', '-y', '--allow-downgrades', 'greeting=1.0'])
    expect(await machine.run(['greet'])).toBe('1.0\n')
  })

  test.each([
    ['stranger', 'NO_PUBKEY'],
    ['nobody', 'is not signed'],
    ['tampered', 'BADSIG'],
  ] as const)('signed by %s is refused', async (signedBy, words) => {
    const url = await bed.publish(signedBy, [greeting('3.0')], { signedBy })
    await bed.trust(machine, signedBy, url)
    const { code, stderr } = await machine.exec(update)
    expect(code).toBe(100)
    expect(stderr).toContain(words)
    await machine.run(['rm', `/etc/apt/sources.list.d/${signedBy}.list`])
  })

  test('of Debian itself is reached through the forwarder', async () => {
    const debian = await bed.machine({ debian: true })
    await debian.run(update)
    expect(await debian.run(['apt-cache', 'policy', 'docker.io'])).toMatch(/Candidate: \d/)
    await debian.destroy()
  })
})

describe('a bed that is cut off', () => {
  async function heldBed(): Promise<{ readonly child: ChildProcess; readonly slot: BedSlot }> {
    const program = fileURLToPath(new URL('bed-holder.ts', import.meta.url))
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    if (!child.stdout) throw new Error('its output was asked for')
    const [line] = await once(createInterface(child.stdout), 'line')
    return { child, slot: JSON.parse(line) as BedSlot }
  }

  test.each(['SIGTERM', 'SIGINT'] as const)('by %s leaves nothing', async (signal) => {
    const { child, slot } = await heldBed()
    expect(leftoversOf(slot)).not.toEqual([])
    child.kill(signal)
    await once(child, 'exit')
    expect(leftoversOf(slot)).toEqual([])
  })

  test('by the end of whoever started it leaves nothing', async () => {
    const { child, slot } = await heldBed()
    child.disconnect()
    await once(child, 'exit')
    expect(leftoversOf(slot)).toEqual([])
  })

  test('by SIGKILL loses its machines at once, and the rest when the next bed opens', async () => {
    const { child, slot } = await heldBed()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const processes = () => leftoversOf(slot).filter((leftover) => leftover.startsWith('process'))
    await expect.poll(processes, { timeout: 60_000 }).toEqual([])
    expect(leftoversOf(slot)).not.toEqual([])
    await using next = await openBed()
    // The next one may have taken its number.
    const ofNext = new Set(next.leftovers())
    expect(leftoversOf(slot).filter((leftover) => !ofNext.has(leftover))).toEqual([])
  })
})
