// Jobs whose results go to a disk that is full: a small one of its own, with the real wrapper under a real shell.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sayToStderr } from '../../../test/bed/programs.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { FileDisk } from '../disk/file-disk.ts'
import { heldPath, reservedPath } from './held-job.ts'
import { LinuxHost } from './linux-host.ts'

const mayMount = process.getuid?.() === 0
if (!mayMount) sayToStderr('\n*** FULL DISK TESTS SKIPPED: they mount a disk and need root\n')

const never = new AbortController().signal
let folder: string
let disk: string

const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
const job = (text: string) => ({
  name: 'job',
  argv: ['/bin/sh', '-c', text],
  env: {},
  logPath: join(disk, 'job.log'),
  logBytes: 1024 * 1024,
  resultPath: join(disk, 'job.exit'),
})
const filler = () => join(disk, 'filler')
const fill = () => expect(writeFile(filler(), Buffer.alloc(2 * 1024 * 1024))).rejects.toThrow('ENOSPC')

// In CI they run, and fail where nothing can be mounted.
describe.skipIf(!mayMount && !process.env.CI)('a disk that is full', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-full-'))
    disk = join(folder, 'disk')
    execFileSync('mkdir', [disk])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'slipway-full', disk])
  })
  afterEach(async () => {
    execFileSync('umount', ['--lazy', disk])
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  it.each([0, 7])('when a job ends keeps its exit code %d', async (exitCode) => {
    const given = job(`until [ -e ${folder}/go-on ]; do sleep 0.02; done; echo done; exit ${exitCode}`)
    const held = await host.hold(given, never)
    await held.release()
    await fill()
    await writeFile(join(folder, 'go-on'), '')
    await host.ended(held.identity, never)
    expect(await host.look(held.identity, given.resultPath)).toEqual({ state: 'exited', exitCode })
  })

  it('where nothing could be reserved has the exit code wait for room, and says so meanwhile', async () => {
    const given = job(`echo run >>${folder}/runs; exit 3`)
    const held = await host.hold(given, never)
    await rm(reservedPath(given.resultPath))
    await fill()
    await held.release()
    await expect.poll(() => host.look(held.identity, given.resultPath)).toEqual({ state: 'unwritten' })
    await delay(1_500)
    expect(await host.look(held.identity, given.resultPath)).toEqual({ state: 'unwritten' })
    await rm(filler())
    await host.ended(held.identity, never)
    expect(await host.look(held.identity, given.resultPath)).toEqual({ state: 'exited', exitCode: 3 })
    expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\n')
  })

  it('before a job starts keeps it from being begun', async () => {
    await fill()
    const given = job('exit 0')
    await expect(host.hold(given, never)).rejects.toMatchObject({
      code: 'DiskFull',
      path: reservedPath(given.resultPath),
    })
  })

  it('tells what was let run and killed from what never ran', async () => {
    const given = job(`echo up; exec sleep 60`)
    const held = await host.hold(given, never)
    await fill()
    await held.release()
    await expect.poll(() => new FileDisk().bytes(heldPath(given.resultPath))).toBeUndefined()
    await host.end(held.identity, 0, never)
    expect(await host.look(held.identity, given.resultPath)).toEqual({ state: 'gone' })
  })
})
