import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeRequests, nodeStreams } from './node-requests.ts'

const { signal } = new AbortController()
const timeoutMs = 300
const servers = new Set<Server>()
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  servers.clear()
})

/** A request to a server of this machine that answers so. */
async function asking(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => answer(response))
  servers.add(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { method: 'GET', url: `http://127.0.0.1:${port}/`, credentials: {}, timeoutMs } as const
}

describe('a long answer', () => {
  it('waits for one who takes his time with each piece', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    // More than any buffer on the way holds, so that nothing moves while nobody reads.
    const count = 24
    const request = await asking((response) => {
      for (let sent = 0; sent < count; sent++) response.write(piece)
      response.end()
    })
    const { status, body } = await nodeStreams.open(request, signal)
    let bytes = 0
    for await (const part of body) {
      if (bytes === 0) await delay(timeoutMs * 3)
      bytes += part.length
    }
    expect({ status, bytes }).toEqual({ status: 200, bytes: count * piece.length })
  })

  it('is given up where the server stays silent in the middle of it', async () => {
    const request = await asking((response) => response.write('the first piece'))
    const { body } = await nodeStreams.open(request, signal)
    const read = async () => {
      for await (const _ of body);
    }
    await expect(read()).rejects.toMatchObject({
      code: 'CannotReach',
      message: expect.stringContaining('it stays silent for 0.3 s'),
    })
  })

  it('is given up where it never begins', async () => {
    const request = await asking(() => undefined)
    await expect(nodeStreams.open(request, signal)).rejects.toMatchObject({
      code: 'CannotReach',
      message: expect.stringContaining('it stays silent for 0.3 s'),
    })
  })

  it('that breaks off is no whole one', async () => {
    const request = await asking((response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('the first piece', () => response.destroy())
    })
    const { body } = await nodeStreams.open(request, signal)
    const read = async () => {
      for await (const _ of body);
    }
    await expect(read()).rejects.toMatchObject({ code: 'CannotReach' })
  })

  it('ends when its reader is told to stop', async () => {
    const stop = new AbortController()
    const request = await asking((response) => response.write('the first piece'))
    const { body } = await nodeStreams.open({ ...request, timeoutMs: 60_000 }, stop.signal)
    const read = async () => {
      for await (const _ of body) stop.abort(new Error('told to stop'))
    }
    await expect(read()).rejects.toThrow('told to stop')
  })
})

describe('a short answer', () => {
  it('has to be there in time', async () => {
    const whole = await asking((response) => response.writeHead(201).end('done'))
    expect(await nodeRequests.send(whole, signal)).toEqual({ status: 201, body: 'done' })
    const half = await asking((response) => response.write('the first piece'))
    await expect(nodeRequests.send(half, signal)).rejects.toMatchObject({
      code: 'CannotReach',
      message: expect.stringContaining('no answer within 0.3 s'),
    })
  })
})
