import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Job, ProcessIdentity } from '../../ports/host.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { FileDisk } from '../disk/file-disk.ts'
import { keptTailBytes, leftOut } from './held-job.ts'
import { LinuxHost } from './linux-host.ts'
import { groupIsRunning, startTimeOf } from './process-table.ts'

const never = new AbortController().signal
let folder: string
const host = () => new LinuxHost({ disk: new FileDisk(), log: silentLog })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-host-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

const job = (argv: readonly string[], logBytes = 1024 * 1024): Job => ({
  name: 'job',
  argv,
  env: { GREETING: 'hello there' },
  logPath: join(folder, 'job.log'),
  logBytes,
  resultPath: join(folder, 'job.exit'),
})
const shell = (text: string, logBytes?: number) => job(['/bin/sh', '-c', text], logBytes)

async function runToEnd(given: Job) {
  const machine = host()
  const held = await machine.hold(given, never)
  await held.release()
  await machine.ended(held.identity, never)
  return machine.look(held.identity, given.resultPath)
}

describe('LinuxHost', () => {
  it('tries again when the machine cannot be entered: that says nothing of the program', async () => {
    const gate = join(folder, 'nsenter')
    const first = `if [ ! -e ${folder}/tried ]; then touch ${folder}/tried; echo 'nsenter: cannot open /proc/1/ns/ipc: No such file or directory' >&2; exit 1; fi`
    await writeFile(gate, `#!/bin/sh\n${first}\nexec "$@"\n`, { mode: 0o755 })
    const machine = new LinuxHost({ disk: new FileDisk(), log: silentLog, enter: [gate] })
    expect(await machine.run({ argv: ['sh', '-c', 'cat; exit 3'], input: 'hello' }, never)).toEqual({
      exitCode: 3,
      stdout: 'hello',
      stderr: '',
    })
  })

  it('answers as a shell does for a program that may not be run, as on a mount with noexec', async () => {
    await writeFile(join(folder, 'kubeadm'), '#!/bin/sh\n', { mode: 0o644 })
    expect((await host().run({ argv: [join(folder, 'kubeadm'), 'version'] }, never)).exitCode).toBe(126)
    expect((await host().run({ argv: [join(folder, 'none'), 'version'] }, never)).exitCode).toBe(127)
  })

  it('says that it cannot be entered when that lasts', { timeout: 30_000 }, async () => {
    const gate = join(folder, 'nsenter')
    await writeFile(gate, "#!/bin/sh\necho 'nsenter: cannot open /proc/1/ns/ipc: gone' >&2\nexit 1\n", { mode: 0o755 })
    const machine = new LinuxHost({ disk: new FileDisk(), log: silentLog, enter: [gate] })
    await expect(machine.run({ argv: ['true'] }, never)).rejects.toMatchObject({ code: 'CannotReach' })
  })

  it.each([
    { name: 'a good end', text: 'exit 0', exitCode: 0 },
    { name: 'its own code', text: 'exit 7', exitCode: 7 },
    { name: 'killed by a signal', text: 'kill -9 $$', exitCode: 137 },
    { name: 'an unknown program', text: 'exec /no/such/program', exitCode: 127 },
  ])('gives the exit code: $name', async ({ text, exitCode }) => {
    expect(await runToEnd(shell(text))).toEqual({ state: 'exited', exitCode })
  })

  it('passes arguments and environment as they are, and captures output and errors', async () => {
    await runToEnd(job(['/bin/sh', '-c', 'echo "$GREETING|$1|$2"; echo oops >&2', 'x', `a b'"$(id)`, '*']))
    expect(await readFile(join(folder, 'job.log'), 'utf8')).toBe(`hello there|a b'"$(id)|*\noops\n`)
  })

  it('runs nothing before it is released, and nothing at all when the holder dies first', async () => {
    const mark = join(folder, 'mark')
    const machine = host()
    const { identity } = await machine.hold(shell(`touch ${mark}`), never)
    await delay(150)
    expect(await machine.look(identity, join(folder, 'job.exit'))).toEqual({ state: 'running' })
    expect(existsSync(mark)).toBe(false)
    await machine.end(identity, 0, never)
    expect(await machine.look(identity, join(folder, 'job.exit'))).toEqual({ state: 'unrun' })
    expect(existsSync(mark)).toBe(false)
  })

  describe('keeps of a log that is too long its beginning and its end', () => {
    const logOf = () => readFile(join(folder, 'job.log'), 'utf8')
    const [most, limit] = [10_240 + leftOut.length + keptTailBytes, 10_240]

    it('of 100 MB, and lets the job finish', async () => {
      const result = await runToEnd(
        shell('echo begin; head -c 100000000 /dev/zero | tr "\\0" x && echo end >&2', limit),
      )
      expect(result).toEqual({ state: 'exited', exitCode: 0 })
      const log = await logOf()
      expect(log).toHaveLength(most)
      expect(log.slice(0, limit)).toBe(`begin\n${'x'.repeat(limit - 6)}`)
      expect(log.slice(limit, -keptTailBytes)).toBe(leftOut)
      expect(log.slice(-keptTailBytes)).toBe(`${'x'.repeat(keptTailBytes - 4)}end\n`)
    })

    it.each([
      { name: 'as much as is kept', bytes: most, isCut: false },
      { name: 'one byte more', bytes: most + 1, isCut: true },
    ])('where it printed $name', async ({ bytes, isCut }) => {
      await runToEnd(shell(`head -c ${bytes - 4} /dev/zero | tr "\\0" x; echo end`, limit))
      const log = await logOf()
      expect(log).toHaveLength(most)
      expect(log.endsWith('xend\n')).toBe(true)
      expect(log.includes(leftOut)).toBe(isCut)
    })

    it('and no line of the end is missing, whatever the size of its writes', async () => {
      const oneByOne = 'i=2000000; while [ $i -lt 2000999 ]; do i=$((i + 1)); echo $i; done'
      await runToEnd(shell(`seq 1 2000000; ${oneByOne}`, limit))
      const end = (await logOf()).slice(-keptTailBytes).split('\n').slice(1, -1)
      expect(end).toEqual(
        Array.from({ length: keptTailBytes / 8 - 1 }, (_, index) => String(2_000_999 - index)).toReversed(),
      )
    })

    it('while it runs, too, and when it is killed', { timeout: 30_000 }, async () => {
      const machine = host()
      const given = shell('head -c 30000000 /dev/zero | tr "\\0" x; echo up; exec sleep 60', limit)
      const held = await machine.hold(given, never)
      await held.release()
      while (!((await new FileDisk().readTail(given.logPath, 3)) === 'up\n')) await delay(20)
      expect((await stat(given.logPath)).size).toBeLessThan(most + 2 * 4 * 1024 * 1024)
      await machine.end(held.identity, 0, never)
      expect(await new FileDisk().readTail(given.logPath, 3)).toBe('up\n')
    })

    it('and drops what finds no room, so that the job can finish', async () => {
      const given = { ...shell('head -c 1000000 /dev/zero; echo $? >&2'), logPath: '/dev/full' }
      expect(await runToEnd(given)).toEqual({ state: 'exited', exitCode: 0 })
    })
  })

  it('ends the whole group, also what ignores SIGTERM', async () => {
    const machine = host()
    const held = await machine.hold(
      shell(`trap '' TERM; (trap '' TERM; sleep 60) & echo up; sleep 60; sleep 60`),
      never,
    )
    await held.release()
    await fileHas(join(folder, 'job.log'), 'up')
    await machine.end(held.identity, 300, never)
    expect(await groupIsRunning(held.identity.pid)).toBe(false)
    expect(await machine.look(held.identity, join(folder, 'job.exit'))).toEqual({ state: 'gone' })
  })

  it('lets a job clean up within the grace', async () => {
    const machine = host()
    const held = await machine.hold(
      shell(`trap 'echo cleaned; exit 3' TERM; echo up; while :; do sleep 0.05; done`),
      never,
    )
    await held.release()
    await fileHas(join(folder, 'job.log'), 'up')
    await machine.end(held.identity, 5_000, never)
    expect(await readFile(join(folder, 'job.log'), 'utf8')).toContain('cleaned')
  })

  it('does not wait for a daemon the job leaves behind', async () => {
    const started = performance.now()
    expect(
      await runToEnd(shell('sleep 30 & echo $! >"$0.pid"; exit 0'.replaceAll('$0', join(folder, 'daemon')))),
    ).toEqual({
      state: 'exited',
      exitCode: 0,
    })
    expect(performance.now() - started).toBeLessThan(10_000)
    process.kill(Number(await readFile(join(folder, 'daemon.pid'), 'utf8')))
  })

  it('waits for a process it did not start itself, and sees its result', async () => {
    const held = await host().hold(shell('sleep 0.5; exit 4'), never)
    await held.release()
    const other = host()
    expect(await other.look(held.identity, join(folder, 'job.exit'))).toEqual({ state: 'running' })
    await other.ended(held.identity, never)
    expect(await other.look(held.identity, join(folder, 'job.exit'))).toEqual({ state: 'exited', exitCode: 4 })
  })

  it('takes no other process for the one it looks for', async () => {
    const machine = host()
    const mine: ProcessIdentity = {
      pid: process.pid,
      startTime: (await startTimeOf(process.pid)) ?? '',
      bootId: await machine.bootId(),
    }
    const result = join(folder, 'none')
    expect(await machine.look(mine, result)).toEqual({ state: 'running' })
    for (const other of [
      { ...mine, startTime: '1' },
      { ...mine, bootId: 'an earlier boot' },
    ]) {
      expect(await machine.look(other, result)).toEqual({ state: 'gone' })
      await machine.ended(other, never)
      await machine.end(other, 0, never)
    }
  })

  it('refuses a result that is no exit code', async () => {
    await writeFile(join(folder, 'bad'), '\u0000\u0000')
    const gone = { pid: process.pid, startTime: '1', bootId: 'x' }
    await expect(host().look(gone, join(folder, 'bad'))).rejects.toMatchObject({ code: 'JournalCorrupt' })
  })

  it('stops waiting when it is told to', async () => {
    const machine = host()
    const held = await machine.hold(shell('sleep 30'), never)
    await held.release()
    const stop = new AbortController()
    const waiting = machine.ended(held.identity, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await machine.end(held.identity, 0, never)
  })

  it('counts time as the machine does, whoever asks', async () => {
    const before = await host().uptimeMs()
    await delay(50)
    const passedMs = (await host().uptimeMs()) - before
    expect(passedMs).toBeGreaterThanOrEqual(40)
    expect(passedMs).toBeLessThan(5_000)
  })

  it('says so where the machine does not count', async () => {
    await mkdir(join(folder, 'proc'))
    await writeFile(join(folder, 'proc/uptime'), '\n')
    const mute = new LinuxHost({ disk: new FileDisk(), log: silentLog, root: folder })
    await expect(mute.uptimeMs()).rejects.toThrow(`${folder}/proc/uptime does not say`)
  })

  it('knows its machine', async () => {
    const facts = await host().facts(never)
    expect(facts.kernel).not.toBe('')
    expect(facts.os).not.toBe('')
  })
})

async function fileHas(path: string, text: string): Promise<void> {
  while (!existsSync(path) || !(await readFile(path, 'utf8')).includes(text)) await delay(20)
}

it('reads the boot id again where it could not be read', async () => {
  const late = new LinuxHost({ disk: new FileDisk(), log: silentLog, root: folder })
  await expect(late.bootId()).rejects.toThrow('ENOENT')
  await mkdir(join(folder, 'proc/sys/kernel/random'), { recursive: true })
  await writeFile(join(folder, 'proc/sys/kernel/random/boot_id'), 'one\n')
  expect(await late.bootId()).toBe('one')
})
