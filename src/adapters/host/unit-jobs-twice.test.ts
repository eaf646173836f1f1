// Two agents on one host, over units that are processes here.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Command, CommandResult, Job } from '../../ports/host.ts'
import { FileDisk } from '../disk/file-disk.ts'
import { heldPath, reservedPath } from './held-job.ts'
import { MachineFiles } from './machine-files.ts'
import { UnitJobs } from './unit-jobs.ts'

const { signal } = new AbortController()
let folder: string
let unit: ChildProcess | undefined
let invocation = 0
/** So many questions are not answered. */
let unanswered = 0

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-units-'))
})
afterEach(async () => {
  unanswered = 0
  await stop()
  await rm(folder, { recursive: true, force: true })
})

const runs = () => unit !== undefined && unit.exitCode === null && unit.signalCode === null

async function stop(): Promise<void> {
  if (!unit || !runs()) return
  const ended = once(unit, 'exit')
  process.kill(-(unit.pid ?? 0), 'SIGKILL')
  await ended
}

/** systemd with room for one unit. */
async function systemd({ argv }: Command): Promise<CommandResult> {
  const answer = { exitCode: 0, stdout: '', stderr: '' }
  if (argv[0] === 'systemctl' && argv[1] === 'stop') await stop()
  if (argv[0] === 'systemctl' && argv[1] === 'show') {
    if (unanswered-- > 0) return { ...answer, exitCode: 1, stderr: 'Failed to connect to bus' }
    const shown = `MainPID=${unit?.pid ?? 0}\nActiveState=${runs() ? 'active' : 'inactive'}\nInvocationID=${invocation}\n`
    return { ...answer, stdout: shown }
  }
  if (argv[0] !== 'systemd-run') return answer
  if (runs()) return { ...answer, exitCode: 1, stderr: 'Unit slipway-1.service was already loaded' }
  const [program = '', ...args] = argv.slice(argv.indexOf('--') + 1).map((text) => text.replaceAll('$$', '$'))
  unit = spawn(program, args, { detached: true, stdio: 'ignore' })
  invocation += 1
  return answer
}

function agent(): UnitJobs {
  const files = new MachineFiles('', () => Promise.resolve())
  return new UnitJobs({ root: '', disk: new FileDisk(), files, run: systemd })
}

function job(): Job {
  const text = `until [ -e ${folder}/go-on ]; do sleep 0.05; done; echo run >>${folder}/mark`
  const [logPath, resultPath] = [join(folder, 'log'), join(folder, 'exit')]
  return { name: 'slipway-1', argv: ['/bin/sh', '-c', text], env: {}, logPath, logBytes: 1024, resultPath }
}

const goOn = () => writeFile(join(folder, 'go-on'), '')

it('what another agent has released is not stopped in the middle, and is told', async () => {
  const held = await agent().hold(job(), 'boot', signal)
  await held.release()
  await expect.poll(() => existsSync(join(folder, 'log'))).toBe(true)
  await expect(agent().hold(job(), 'boot', signal)).rejects.toMatchObject({
    code: 'StartedElsewhere',
    message: expect.stringContaining('slipway-1.service'),
    nextStep: expect.stringContaining('systemctl status slipway-1.service'),
  })
  expect(runs()).toBe(true)
  await goOn()
  await expect.poll(() => existsSync(join(folder, 'exit'))).toBe(true)
  expect(await readFile(join(folder, 'mark'), 'utf8')).toBe('run\n')
})

it.each([
  { when: '', mute: 0 },
  { when: ', also while systemd gives no answer', mute: 2 },
])('what another agent has released keeps what it says of itself$when', async ({ mute }) => {
  const { resultPath } = job()
  const held = await agent().hold(job(), 'boot', signal)
  await held.release()
  await expect.poll(() => existsSync(heldPath(resultPath))).toBe(false)
  await writeFile(reservedPath(resultPath), '000\n')
  unanswered = mute
  await expect(agent().hold(job(), 'boot', signal)).rejects.toMatchObject({ code: 'StartedElsewhere' })
  expect(existsSync(heldPath(resultPath))).toBe(false)
  expect(await readFile(reservedPath(resultPath), 'utf8')).toBe('000\n')
})

it('what waits at its gate is taken from who holds it, who cannot release it any more', async () => {
  const first = await agent().hold(job(), 'boot', signal)
  const second = await agent().hold(job(), 'boot', signal)
  await expect(first.release()).rejects.toThrow('does not wait any more')
  await second.release()
  await goOn()
  await expect.poll(() => existsSync(join(folder, 'exit'))).toBe(true)
  expect(await readFile(join(folder, 'mark'), 'utf8')).toBe('run\n')
})

it('what ends by itself, as after the death of its holder, is waited for', async () => {
  const ending = spawn('sleep', ['0.4'], { detached: true, stdio: 'ignore' })
  unit = ending
  const held = await agent().hold(job(), 'boot', signal)
  expect(ending.signalCode).toBeNull()
  await held.release()
  await goOn()
  await expect.poll(() => existsSync(join(folder, 'exit'))).toBe(true)
})

it('a gate that nobody reads any more is no sign of one that waits', async () => {
  execFileSync('mkfifo', [join(folder, 'exit.go')])
  const held = await agent().hold(job(), 'boot', signal)
  await held.release()
  await goOn()
  await expect.poll(() => existsSync(join(folder, 'exit'))).toBe(true)
})
