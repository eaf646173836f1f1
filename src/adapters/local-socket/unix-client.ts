import { connect } from 'node:net'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { LocalClient } from '../../ports/local-server.ts'
import { systemCode } from '../disk/disk-error.ts'
import { linesOf } from './line-reader.ts'

/** A log may come in one line. */
const maxLineBytes = 64 * 1024 * 1024

export const unixClient: LocalClient = {
  ask: async (path, line, onLine, signal) => {
    const socket = connect({ path })
    const stop = () => socket.destroy()
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      socket.end(`${line}\n`)
      for await (const answer of linesOf(socket, maxLineBytes)) if (answer !== '') onLine(answer)
      signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw cannotReach(path, error)
    } finally {
      signal.removeEventListener('abort', stop)
      socket.destroy()
    }
  },
}

function cannotReach(path: string, error: unknown): unknown {
  const nextStep = nextSteps[systemCode(error) ?? '']
  if (nextStep === undefined) return error
  const message = error instanceof Error ? error.message : String(error)
  return new SlipwayError('CannotReach', `no agent answers on ${path}: ${message}`, { nextStep, cause: error })
}

const nextSteps: Readonly<Record<string, string>> = {
  ENOENT: 'is the agent running on this machine? Elsewhere its socket is named with --socket',
  ECONNREFUSED: 'is the agent running on this machine? It left its socket behind',
  EACCES: 'only root may talk to the agent; try it with sudo',
}
