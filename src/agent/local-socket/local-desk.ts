// The agent's side of the local socket: parses a request, answers it, and turns every failure into an answer.

import {
  type LocalAnswer,
  type LocalRequest,
  type LocalState,
  localErrorCodes,
  localRequestSchema,
} from '../../api/local-protocol.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { LocalServer, Reply } from '../../ports/local-server.ts'
import { findLogs, readLogs } from '../logs/step-logs.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import { followLogs } from './follow-logs.ts'
import { MaintenanceCounter } from './maintenance-counter.ts'

const defaultLogBytes = 64 * 1024

export function localDesk(server: LocalServer, path: string): SideTask {
  return {
    name: 'local socket',
    run: (context, signal) => {
      const desk = new LocalDesk(context)
      return server.serve(path, (line, reply, caller) => desk.answer(line, reply, caller), signal)
    },
  }
}

class LocalDesk {
  readonly #context: SideTaskContext
  readonly #counter: MaintenanceCounter

  constructor(context: SideTaskContext) {
    this.#context = context
    this.#counter = new MaintenanceCounter(context)
  }

  async answer(line: string, reply: Reply, signal: AbortSignal): Promise<void> {
    const send = (answer: LocalAnswer) => reply(JSON.stringify(answer))
    try {
      await this.#serve(parse(line), (result, more) => send({ ok: true, result, ...(more && { more }) }), signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#context.log.warn('a request over the local socket failed', { error: String(error) })
      await send({ ok: false, error: asAnswer(error) })
    }
  }

  async #serve(
    request: LocalRequest,
    tell: (result: unknown, more?: boolean) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    switch (request.ask) {
      case 'state':
        return tell(this.#state())
      case 'steps':
        return tell({ order: this.#state().status.order })
      case 'logs':
        return this.#logs(request, tell, signal)
      case 'request':
        return request.wait
          ? tell(await this.#counter.requestAndWait((word) => tell(word, true), signal))
          : tell(await this.#counter.request())
      case 'finish':
        return tell(await this.#counter.finish(request.failed))
    }
  }

  #state(): LocalState {
    const { store, nodeName, publisher } = this.#context
    const state = store.get(nodeName)
    const rollout = state?.status?.rollout
    // What only the API knows so far is what an earlier life of this agent said.
    return {
      node: nodeName,
      status: { ...state?.status?.agent, ...defined(publisher.said) },
      ...(rollout && { rollout }),
    }
  }

  async #logs(
    { order: wanted, step, follow, bytes = defaultLogBytes }: Extract<LocalRequest, { readonly ask: 'logs' }>,
    tell: (result: unknown, more?: boolean) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { host, stateDir } = this.#context
    const logs = await findLogs(host.disk, stateDir, { order: wanted, step })
    const { order } = logs
    if (!follow) return tell({ order, text: await readLogs(host.disk, logs, bytes) })
    await followLogs(this.#context, { order, step }, bytes, (text) => tell({ order, text }, true), signal)
  }
}

function defined<T extends object>(word: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(word).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]?: Exclude<T[Field], undefined>
  }
}

function parse(line: string): LocalRequest {
  const parsed = localRequestSchema.safeParse(json(line))
  if (parsed.success) return parsed.data
  throw new SlipwayError(
    'Usage',
    `this is no request: ${parsed.error.issues.map(({ message }) => message).join('; ')}`,
    {
      nextStep: 'send a line such as {"ask":"state"}; ask is state, steps, logs, request or finish',
    },
  )
}

function json(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new SlipwayError('Usage', 'the line is not JSON', {
      nextStep: 'send a line such as {"ask":"state"}',
      cause: error,
    })
  }
}

function asAnswer(error: unknown): Extract<LocalAnswer, { readonly ok: false }>['error'] {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof SlipwayError)) return { code: 'Internal', message }
  const code =
    error.code === 'LogMissing' ? 'NotFound' : (localErrorCodes.find((known) => known === error.code) ?? 'Internal')
  return { code, message, ...(error.nextStep !== undefined && { nextStep: error.nextStep }) }
}
