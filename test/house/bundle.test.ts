// What ships is not what the other tests run: the bundle is seen to load its parts and to speak HTTP.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { repository } from './planted-tree.ts'

const run = promisify(execFile)

test('the bundle asks an API server and understands its answer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-bundle-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('content-type', 'application/json')
    const items = request.url?.startsWith('/api/v1/nodes') ? [{ metadata: { name: 'only-node' }, spec: {} }] : []
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const kubeconfig = join(folder, 'kubeconfig')
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
  const dist = join(folder, 'dist')
  const rolldown = join(repository, 'node_modules/.bin/rolldown')
  await run(rolldown, ['-c', 'rolldown.config.ts', '--log-level', 'warn', '--dir', dist], { cwd: repository })
  const { stdout } = await run(process.execPath, [join(dist, 'slipway.mjs'), 'nodes', '--kubeconfig', kubeconfig])
  expect(asked.length).toBeGreaterThan(0)
  expect(stdout).toContain('only-node')
})
