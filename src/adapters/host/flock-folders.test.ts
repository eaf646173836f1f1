import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FlockFolders } from './flock-folders.ts'

const { signal } = new AbortController()
const module = fileURLToPath(new URL('flock-folders.ts', import.meta.url))
const program = `
const { FlockFolders } = await import(process.argv[1])
const isOurs = await new FlockFolders().take(process.argv[2], new AbortController().signal)
process.stdout.write(String(isOurs))
setInterval(() => undefined, 1000)
`
let folder: string
let child: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-lock-'))
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** A process of its own that has the folder. */
async function holder(path: string): Promise<ChildProcess> {
  child = spawn(process.execPath, ['--input-type=module', '--eval', program, module, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout ?? child, 'data')
  expect(String(said)).toBe('true')
  return child
}

describe('the lock of a folder', () => {
  it('is one process’s, and free at once when that is killed', async () => {
    const locks = new FlockFolders()
    const state = join(folder, 'state')
    const other = await holder(state)
    expect(await locks.take(state, signal)).toBe(false)
    expect(await locks.take(join(folder, 'another'), signal)).toBe(true)
    other.kill('SIGKILL')
    await once(other, 'exit')
    expect(await locks.take(state, signal)).toBe(true)
    // Held by this process, whoever asks.
    expect(await new FlockFolders().take(state, signal)).toBe(false)
  })

  it('is not kept by what its holder has started', async () => {
    const locks = new FlockFolders()
    expect(await locks.take(folder, signal)).toBe(true)
    const started = spawn('ls', ['-l', '/proc/self/fd'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await once(started.stdout, 'data')
    expect(String(said)).not.toContain(folder)
  })

  it.each([
    ['a machine without the program', ['/no/such/nsenter'], /cannot be locked: .*ENOENT/],
    [
      'a machine that cannot be entered',
      ['/bin/sh', '-c', 'echo "nsenter: cannot open" >&2; exit 1'],
      /nsenter: cannot open/,
    ],
  ])('is not taken for another’s on %s', async (_, enter, says) => {
    await expect(new FlockFolders(enter).take(folder, signal)).rejects.toMatchObject({
      code: 'DiskFailed',
      message: expect.stringMatching(says),
      nextStep: expect.stringContaining('flock'),
    })
  })

  it('names what is no folder', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(new FlockFolders().take(file, signal)).rejects.toMatchObject({ code: 'DiskFailed', path: file })
  })
})
