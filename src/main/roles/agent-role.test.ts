import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

const program = fileURLToPath(new URL('../slipway.ts', import.meta.url))
const kubeconfig = JSON.stringify({
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 't' } }],
})
let folder: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-role-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('an agent whose host has another one says so, waits, touches nothing, and stops when it is told to', async () => {
  const state = join(folder, 'state')
  await mkdir(state)
  await writeFile(join(folder, 'kubeconfig'), kubeconfig)
  const other = spawn('flock', ['-o', '-x', state, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(other)
  other.stdin.write('held\n')
  await once(other.stdout, 'data')
  const args = ['agent', '--kubeconfig', join(folder, 'kubeconfig'), '--node-name', 'w1', '--state-dir', state]
  const agent = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'inherit', 'pipe'] })
  children.push(agent)
  let said = ''
  agent.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said).toContain('"code":"AnotherAgent"')
  expect(existsSync(join(state, 'orders'))).toBe(false)
  agent.kill('SIGTERM')
  expect(await once(agent, 'exit')).toEqual([0, null])
})
