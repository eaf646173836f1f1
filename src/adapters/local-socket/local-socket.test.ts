import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AnswerLine } from '../../ports/local-server.ts'
import { unixClient } from './unix-client.ts'
import { UnixServer } from './unix-server.ts'

const never = new AbortController().signal
let folder: string
let stop: AbortController
let served: Promise<void>
let hungUp: number

const answer: AnswerLine = async (line, reply, signal) => {
  if (line === 'follow') {
    await reply('first')
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    hungUp += 1
    return
  }
  await reply(`${line}!`)
  await reply('.'.repeat(100_000))
}

const socketPath = () => join(folder, 'run/agent.sock')

async function serve(): Promise<void> {
  stop = new AbortController()
  served = new UnixServer({ heartbeatMs: 20 }).serve(socketPath(), answer, stop.signal)
  await expect
    .poll(() =>
      stat(socketPath()).then(
        (found) => found.mode & 0o777,
        () => 0,
      ),
    )
    .toBe(0o600)
}

async function ask(line: string): Promise<readonly string[]> {
  const lines: string[] = []
  await unixClient.ask(socketPath(), line, (text) => void lines.push(text), never)
  return lines
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-socket-'))
  hungUp = 0
})
afterEach(async () => {
  stop?.abort()
  await served
  await rm(folder, { recursive: true, force: true })
})

describe('the local socket', () => {
  it('is the owner’s alone, answers by lines, and is gone afterwards', async () => {
    await serve()
    expect((await stat(socketPath())).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700)
    expect(await ask('grüße')).toEqual(['grüße!', '.'.repeat(100_000)])
    expect(await Promise.all([ask('a'), ask('b')])).toMatchObject([
      ['a!', expect.anything()],
      ['b!', expect.anything()],
    ])
    stop.abort()
    await served
    await expect(stat(socketPath())).rejects.toThrow('ENOENT')
  })

  it('learns that a caller hung up', async () => {
    await serve()
    const caller = new AbortController()
    const lines: string[] = []
    const asked = unixClient.ask(socketPath(), 'follow', (line) => void lines.push(line), caller.signal)
    await expect.poll(() => lines).toEqual(['first'])
    caller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
    await expect.poll(() => hungUp).toBe(1)
  })

  it('drops a caller who never ends a line, and serves the others', async () => {
    await serve()
    const socket = connect(socketPath())
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    for (let n = 0; n < 20; n++) socket.write('x'.repeat(10_000))
    await closed
    expect(await ask('a')).toHaveLength(2)
  })

  it('replaces what a dead server left, but not a living one', async () => {
    await serve()
    await expect(new UnixServer().serve(socketPath(), answer, never)).rejects.toMatchObject({ code: 'Refused' })
    stop.abort()
    await served
    await writeFile(socketPath(), '')
    await serve()
    expect(await ask('a')).toHaveLength(2)
  })

  it('says what to do when nobody listens', async () => {
    const asked = unixClient.ask(join(folder, 'none.sock'), 'x', () => undefined, never)
    await expect(asked).rejects.toMatchObject({ code: 'CannotReach', nextStep: expect.stringContaining('agent') })
  })
})
