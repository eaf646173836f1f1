import { chmod, mkdir, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { AnswerLine, LocalServer } from '../../ports/local-server.ts'
import { namingPath } from '../disk/disk-error.ts'
import { linesOf } from './line-reader.ts'

const maxLineBytes = 64 * 1024
const maxConnections = 32
const heartbeatMs = 5_000

export interface UnixServerOptions {
  readonly heartbeatMs?: number
}

export class UnixServer implements LocalServer {
  readonly #heartbeatMs: number

  constructor(options: UnixServerOptions = {}) {
    this.#heartbeatMs = options.heartbeatMs ?? heartbeatMs
  }

  async serve(path: string, answer: AnswerLine, signal: AbortSignal): Promise<void> {
    await namingPath(path, () => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
    if (await answers(path)) {
      throw new SlipwayError('Refused', `another agent listens on ${path}`, { nextStep: 'stop one of the two' })
    }
    await namingPath(path, () => rm(path, { force: true }))
    const open = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket)
      const stopHeartbeat = beatAfterEnd(socket, this.#heartbeatMs)
      socket.once('close', () => {
        stopHeartbeat()
        open.delete(socket)
      })
      void serveSocket(socket, answer, signal)
    })
    server.maxConnections = maxConnections
    try {
      await listening(server, path)
      await namingPath(path, () => chmod(path, 0o600))
      await untilAborted(server, signal)
    } finally {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await rm(path, { force: true })
    }
  }
}

async function serveSocket(socket: Socket, answer: AnswerLine, signal: AbortSignal): Promise<void> {
  const gone = new AbortController()
  const hangUp = () => gone.abort(new Error('the caller hung up'))
  socket.once('close', hangUp)
  // Whatever ended the connection, `close` follows; there is nobody left to tell.
  socket.on('error', hangUp)
  const reply = (line: string) => written(socket, `${line}\n`, gone.signal)
  try {
    for await (const line of linesOf(socket, maxLineBytes)) {
      if (line.trim() !== '') await answer(line, reply, gone.signal)
    }
    socket.end()
  } catch (error) {
    socket.destroy(gone.signal.aborted || signal.aborted || !(error instanceof Error) ? undefined : error)
  }
}

/**
 * A caller who says no more may still listen, or be gone: only writing tells. So an empty line, which means nothing, is written
 * now and then; to nobody it ends in an error and closes the connection.
 */
function beatAfterEnd(socket: Socket, everyMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  socket.once('end', () => {
    timer = setInterval(() => socket.writable && socket.write('\n'), everyMs)
  })
  return () => clearInterval(timer)
}

function written(socket: Socket, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else socket.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** Whether a living server is there, and not only the name of a dead one. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new SlipwayError('DiskFailed', `cannot listen on ${path}: ${error.message}`, { cause: error }))
    })
    server.listen(path, resolve)
  })
}

function untilAborted(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
