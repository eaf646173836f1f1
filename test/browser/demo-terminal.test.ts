// `slipway demo` as a person has it: on a terminal, until Ctrl-C.

import { spawn } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { repository } from '../house/planted-tree.ts'
import { readStream } from './stream-reader.ts'

let stop: (() => void) | undefined
afterEach(() => stop?.())

test('prints the address of a live console, stays after the end, and Ctrl-C ends it well', async () => {
  // In place of the shell: one that waits would be told of Ctrl-C, too, and some then report that instead.
  const run = ['-qec', 'exec ./slipway demo --nodes 6 --speed 2000', '/dev/null']
  const terminal = spawn('script', run, { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] })
  stop = () => terminal.kill('SIGKILL')
  const ended = new Promise<number | null>((resolve) => terminal.once('exit', resolve))
  let shown = ''
  terminal.stdout.on('data', (piece: Buffer) => (shown += piece))
  const address = /console: (?<url>http:\/\/127\.0\.0\.1:\d+\/\?token=[^\s#]+)/
  await expect.poll(() => shown, { timeout: 60_000 }).toMatch(address)
  const url = new URL(address.exec(shown)?.groups?.url ?? '')
  expect(await (await fetch(url)).text()).toContain('<div id="page">')
  const reader = await readStream({ port: Number(url.port), token: url.searchParams.get('token') ?? '' })
  expect(reader.state.cluster).toMatchObject({ name: 'demo', demo: true })
  await expect.poll(() => shown, { timeout: 90_000 }).toContain('Ctrl-C ends both')
  expect(shown).toContain('Succeeded: 6 nodes')
  expect(reader.ended).toBe(false)
  terminal.stdin.write('\u0003')
  expect(await ended).toBe(0)
  reader.close()
})
