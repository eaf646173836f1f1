// Answers the operator's question for a log (spec.logs) in the status: compressed, and no more than was asked for.

import type { AgentStatus, NodeState } from '../../api/node-state.ts'
import { isReasonCode, type Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Compression } from '../../ports/compression.ts'
import { Bell } from '../bell.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import { findLogs, readLogs } from './step-logs.ts'

type Question = NonNullable<NodeState['spec']['logs']>
type Answer = NonNullable<AgentStatus['logs']>

export function logDesk(compression: Compression): SideTask {
  return {
    name: 'logs',
    run: async (context, signal) => {
      const { store, nodeName, publisher } = context
      const bell = new Bell()
      const unsubscribe = store.subscribe(() => bell.ring())
      let answered: string | undefined
      try {
        for (;;) {
          const state = store.get(nodeName)
          const question = state?.spec.logs
          if (question && question.request !== answered) {
            const logs = await answer(context, question, compression)
            publisher.publish({ logs })
          } else if (state && !question) publisher.publish({ logs: undefined })
          answered = question?.request
          await bell.heard(signal)
        }
      } finally {
        unsubscribe()
      }
    },
  }
}

async function answer(
  { host, stateDir, log }: SideTaskContext,
  { request, order, step, bytes }: Question,
  compression: Compression,
): Promise<Answer> {
  try {
    const logs = await findLogs(host.disk, stateDir, { order, step })
    const text = await readLogs(host.disk, logs, bytes)
    const file = logs.files.length === 1 ? logs.files[0] : undefined
    return {
      request,
      ...(file !== undefined && { file: `${logs.folder}/${file}`.slice(-256) }),
      bytes: Buffer.byteLength(text),
      gzip: await compression.pack(text),
    }
  } catch (error) {
    log.warn('a log that was asked for cannot be given', { request, error: String(error) })
    return { request, bytes: 0, gzip: '', reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): Reason {
  const message = error instanceof Error ? error.message : String(error)
  const nextStep = error instanceof SlipwayError && error.nextStep !== undefined ? `; ${error.nextStep}` : ''
  const code = error instanceof SlipwayError && isReasonCode(error.code) ? error.code : 'LogMissing'
  return { code, message: `${message}${nextStep}`.slice(0, 4096) }
}
