// Jobs as transient units of a booted machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keptTailBytes, leftOut } from '../../src/adapters/host/held-job.ts'
import type { Job } from '../../src/ports/host.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'

const never = new AbortController().signal
const holder = fileURLToPath(new URL('unit-holder.ts', import.meta.url))
let bed: Bed
let machine: Machine
let jobs = 0

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine()
  await machine.run(['mkdir', '-p', '/var/lib/slipway'])
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

function job(argv: readonly string[], logBytes = 1024 * 1024): Job {
  const name = `slipway-test-${++jobs}`
  return {
    name,
    argv,
    env: { GREETING: 'hello $there %n', SLIPWAY_ORDER: 'op-1', SLIPWAY_STEP: 'try' },
    logPath: `/var/lib/slipway/${name}.log`,
    logBytes,
    resultPath: `/var/lib/slipway/${name}.exit`,
  }
}
const shell = (text: string, logBytes?: number) => job(['/bin/sh', '-c', text], logBytes)
const isThere = async (path: string) => (await machine.exec(['test', '-e', path])).code === 0

async function start(given: Job) {
  const host = hostOfMachine(machine)
  const held = await host.hold(given, never)
  await held.release()
  return { host, identity: held.identity }
}

async function runToEnd(given: Job) {
  const { host, identity } = await start(given)
  await host.ended(identity, never)
  return host.look(identity, given.resultPath)
}

async function untilThere(path: string): Promise<void> {
  while (!(await isThere(path))) await delay(20)
}

describe('a job as a transient unit', () => {
  it.each([
    { name: 'a good end', text: 'exit 0', exitCode: 0 },
    { name: 'its own code', text: 'exit 7', exitCode: 7 },
    { name: 'killed by a signal', text: 'kill -9 $$', exitCode: 137 },
    { name: 'an unknown program', text: 'exec /no/such/program', exitCode: 127 },
  ])('gives the exit code: $name', async ({ text, exitCode }) => {
    expect(await runToEnd(shell(text))).toEqual({ state: 'exited', exitCode })
  })

  it('passes arguments and environment as they are', async () => {
    const given = job([
      '/bin/sh',
      '-c',
      'printf "%s\\n" "$GREETING" "$@"; echo oops >&2',
      'x',
      `a b'"$(id)`,
      '*',
      '$HOME',
      `\${HOME}`,
      '$$',
      '%n',
      '',
    ])
    await runToEnd(given)
    const said = await machine.readFile(given.logPath)
    expect(said).toBe(`hello $there %n\na b'"$(id)\n*\n$HOME\n\${HOME}\n$$\n%n\n\noops\n`)
  })

  it('is named after its order and step, and leaves nothing loaded', async () => {
    const given = shell('exec sleep 60')
    const { host, identity } = await start(given)
    const shown = await machine.run(['systemctl', 'show', '--property=Description,Slice', `${given.name}.service`])
    expect(shown).toContain('Description=Slipway order op-1, step try\n')
    expect(shown).toContain('Slice=system.slice\n')
    await host.end(identity, 0, never)
    expect(await machine.run(['systemctl', 'list-units', '--all', '--no-legend', 'slipway-*'])).toBe('')
  })

  // Who only asked again and again would see it after five seconds.
  it('sees an end at once', async () => {
    const { host, identity } = await start(shell('sleep 1'))
    const startMs = performance.now()
    await host.ended(identity, never)
    expect(performance.now() - startMs).toBeLessThan(4_500)
  })

  it('runs nothing before it is released', async () => {
    const host = hostOfMachine(machine)
    const given = shell('touch /var/lib/slipway/mark-held')
    const { identity } = await host.hold(given, never)
    await delay(150)
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'running' })
    await host.end(identity, 0, never)
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'unrun' })
    expect(await isThere('/var/lib/slipway/mark-held')).toBe(false)
  })

  it('ends without having run when the holder is killed, and its name can be used again', async () => {
    const given = shell('echo run >>/var/lib/slipway/mark-killed')
    const child = await holderProcess(given)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await runToEnd(given)).toEqual({ state: 'exited', exitCode: 0 })
    expect(await machine.readFile('/var/lib/slipway/mark-killed')).toBe('run\n')
  })

  it('outlives who started it, and another one finds it again', async () => {
    const given = shell('until [ -e /var/lib/slipway/go-on ]; do sleep 0.05; done; exit 4')
    const child = await holderProcess(given, 'release')
    const identity = JSON.parse(await lineOf(child))
    child.kill('SIGKILL')
    const host = hostOfMachine(machine)
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'running' })
    await machine.writeFile('/var/lib/slipway/go-on', '')
    await host.ended(identity, never)
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'exited', exitCode: 4 })
  })

  it('keeps of a log that is too long its beginning and its end, and lets the job finish: 1 GB', async () => {
    const given = shell('head -c 1000000000 /dev/zero && echo end >&2', 10_240)
    expect(await runToEnd(given)).toEqual({ state: 'exited', exitCode: 0 })
    const bytes = 10_240 + leftOut.length + keptTailBytes
    expect(await machine.run(['stat', '-c', '%s', given.logPath])).toBe(`${bytes}\n`)
    expect(await machine.run(['tail', '-c', '4', given.logPath])).toBe('end\n')
  })

  it('has the last lines of such a log also when it is killed', async () => {
    const given = shell('head -c 30000000 /dev/zero; echo end; touch /var/lib/slipway/up-0; exec sleep 60', 10_240)
    const { host, identity } = await start(given)
    await untilThere('/var/lib/slipway/up-0')
    const lastLine = () => machine.run(['tail', '-c', '4', given.logPath])
    await expect.poll(lastLine).toBe('end\n')
    await host.end(identity, 0, never)
    expect(await lastLine()).toBe('end\n')
  })

  it('ends all of it, also what ignores SIGTERM', async () => {
    const given = shell(
      `trap '' TERM; (trap '' TERM; exec sleep 4711) & setsid sleep 4712 & touch /var/lib/slipway/up-1; sleep 4713; sleep 4714`,
    )
    const { host, identity } = await start(given)
    await untilThere('/var/lib/slipway/up-1')
    await host.end(identity, 300, never)
    expect((await machine.exec(['pgrep', '-x', 'sleep'])).stdout).toBe('')
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'gone' })
  })

  it('lets a job clean up within the grace', async () => {
    const given = shell(`trap 'echo cleaned; exit 3' TERM; touch /var/lib/slipway/up-2; while :; do sleep 0.05; done`)
    const { host, identity } = await start(given)
    await untilThere('/var/lib/slipway/up-2')
    await host.end(identity, 5_000, never)
    expect(await machine.readFile(given.logPath)).toContain('cleaned')
  })

  it('ends what it leaves behind in the background with it', async () => {
    expect(await runToEnd(shell('sleep 4720 & exit 0'))).toEqual({ state: 'exited', exitCode: 0 })
    expect((await machine.exec(['pgrep', '-x', 'sleep'])).stdout).toBe('')
  })

  it('is told apart from another run of the same unit', async () => {
    const given = shell('touch /var/lib/slipway/up-5; exec sleep 60')
    const { host, identity } = await start(given)
    // Until the first of it runs it counts as held, whoever asks.
    await untilThere('/var/lib/slipway/up-5')
    const other = { ...identity, startTime: 'another invocation' }
    expect(await host.look(other, given.resultPath)).toEqual({ state: 'gone' })
    await host.ended(other, never)
    await host.end(other, 0, never)
    expect(await host.look(identity, given.resultPath)).toEqual({ state: 'running' })
    await host.end(identity, 0, never)
  })

  it('that a shutdown cuts short leaves no result; one that ends well before, does', { timeout: 240_000 }, async () => {
    const cut = shell(`trap 'exit 1' TERM; touch /var/lib/slipway/up-3; while :; do sleep 0.1; done`)
    const well = shell('touch /var/lib/slipway/up-4; sleep 3; exit 0')
    const first = await start(well)
    const second = await start(cut)
    await untilThere('/var/lib/slipway/up-3')
    await untilThere('/var/lib/slipway/up-4')
    await machine.run(['systemctl', 'kill', '--signal=SIGTERM', `${cut.name}.service`])
    await machine.reboot()
    const host = hostOfMachine(machine)
    expect(await host.bootId()).not.toBe(first.identity.bootId)
    expect(await host.look(first.identity, well.resultPath)).toEqual({ state: 'exited', exitCode: 0 })
    expect(await host.look(second.identity, cut.resultPath)).toEqual({ state: 'gone' })
  })
})

/** Holds the job in a process of its own; with `release` lets it run. Prints the identity. */
async function holderProcess(given: Job, ...flags: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [holder, String(machine.initPid()), JSON.stringify(given), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (flags.length === 0) await lineOf(child)
  return child
}

async function lineOf(child: ChildProcess): Promise<string> {
  const [text] = await once(child.stdout ?? child, 'data')
  return String(text)
}
