// Every way of a kubeconfig to reach a real API server and to be let in.

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodes } from '../../src/api/kube.ts'
import { type ApiServer, adminToken, startApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { realClient, writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
let server: ApiServer

describe.skipIf(missing)('a kubeconfig and a real API server', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
  })

  afterAll(async () => {
    await server?.stop()
  })

  test('an exec plug-in is asked again only when its credentials have ended', async () => {
    const pair = makePair(server.authority, { name: 'exec-admin', group: 'system:masters' })
    const status = { clientCertificateData: pair.certificate, clientKeyData: pair.key }
    const plugin = join(server.dir, 'plugin')
    const asked = join(server.dir, 'asked')
    const answer = (expirationTimestamp?: string) =>
      JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { ...status, expirationTimestamp },
      })
    await writeFile(plugin, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> '${asked}'\ncat '${plugin}.json'\n`)
    await chmod(plugin, 0o755)
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin',
      provideClusterInfo: true,
      interactiveMode: 'Never',
    }
    const path = await writeKubeconfig(server, 'exec.conf', { exec })
    const { api } = await realClient(path)
    try {
      await writeFile(`${plugin}.json`, answer('2020-01-01T00:00:00Z'))
      await api.list(nodes, {}, signal)
      await writeFile(`${plugin}.json`, answer())
      await api.list(nodes, {}, signal)
      await api.list(nodes, {}, signal)
    } finally {
      await api.close()
    }
    const infos = (await readFile(asked, 'utf8')).trim().split('\n')
    expect(infos).toHaveLength(2)
    expect(JSON.parse(infos[0] ?? '')).toMatchObject({ spec: { interactive: false, cluster: { server: server.url } } })
  })

  test('a token file is read again when the server refuses what it said', async () => {
    const tokenFile = join(server.dir, 'token')
    await writeFile(tokenFile, 'stale')
    const { api, requests } = await realClient(await writeKubeconfig(server, 'token.conf', { tokenFile: 'token' }))
    try {
      await expect(api.list(nodes, {}, signal)).rejects.toMatchObject({ code: 'Unauthorized' })
      await writeFile(tokenFile, `${adminToken}\n`)
      requests.length = 0
      await api.list(nodes, {}, signal)
      expect(requests.map(({ status }) => status)).toEqual([401, 200])
    } finally {
      await api.close()
    }
  })

  test('a proxy-url is gone through', async () => {
    const tunnels: string[] = []
    const sockets = new Set<Socket>()
    const proxy = createServer((socket) => {
      sockets.add(socket)
      socket.once('data', (head) => {
        const target = /^CONNECT ([^:]+):(\d+)/.exec(head.toString())
        tunnels.push(target?.[0] ?? head.toString())
        const onward = connect(Number(target?.[2]), target?.[1], () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.pipe(onward).pipe(socket)
        })
        sockets.add(onward)
        onward.on('error', () => socket.destroy())
      })
      socket.on('error', () => socket.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const address = proxy.address()
    const port = typeof address === 'object' ? address?.port : 0
    const cluster = { 'proxy-url': `http://127.0.0.1:${port}` }
    const { api } = await realClient(await writeKubeconfig(server, 'proxy.conf', { token: adminToken }, cluster))
    try {
      await api.list(nodes, {}, signal)
      expect(tunnels).toEqual([`CONNECT ${new URL(server.url).host}`])
    } finally {
      await api.close()
      for (const socket of sockets) socket.destroy()
      proxy.close()
    }
  })

  test.each([
    { name: 'kubernetes.default.svc', trusted: true },
    { name: 'someone.example', trusted: false },
  ])('the certificate must be for the tls-server-name: $name', async ({ name, trusted }) => {
    const path = await writeKubeconfig(server, 'name.conf', { token: adminToken }, { 'tls-server-name': name })
    const { api } = await realClient(path)
    try {
      const startedMs = performance.now()
      const listing = api.list(nodes, {}, signal)
      if (trusted) await expect(listing).resolves.toBeDefined()
      else await expect(listing).rejects.toMatchObject({ code: 'Unreachable', message: expect.stringContaining(name) })
      expect(performance.now() - startedMs).toBeLessThan(5_000)
    } finally {
      await api.close()
    }
  })
})
