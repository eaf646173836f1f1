// One node, asked afresh: its life, its steps, what its drain waits for, what they wrote.

import type { NodeDetail, NodeLog, NodeTile } from '../api/console.ts'
import { nodes } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type LogQuestion, logsAnnotation, maxLogBytes, type NodeState, nodeStates } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { type LogTurn, logTurn } from '../core/node/log-turn.ts'
import { nodeDetail } from '../core/view/node-detail.ts'
import type { Clock } from '../ports/clock.ts'
import type { Compression } from '../ports/compression.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Random } from '../ports/random.ts'

export interface QuestionDependencies {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly compression: () => Promise<Compression>
}

export interface LogWish {
  readonly step?: string
  /** From the host, through the operator; otherwise the last lines that the status carries. */
  readonly full: boolean
}

/** An agent that works answers within a second or two. */
const patienceMs = 60_000
const lookEveryMs = 500
/** So long a question that lost its place leaves the others to read their answers. */
const askAgainAfterMs = 2_000

export class NodeQuestions {
  readonly #deps: QuestionDependencies

  constructor(deps: QuestionDependencies) {
    this.#deps = deps
  }

  async detail(tile: NodeTile, signal: AbortSignal): Promise<NodeDetail> {
    const [node, state] = await Promise.all([
      this.#deps.api.get(nodes, { name: tile.name }, signal),
      this.#stateOf(tile.name, signal),
    ])
    return nodeDetail(tile, node, state)
  }

  async log(node: string, { step, full }: LogWish, signal: AbortSignal): Promise<NodeLog> {
    const part = step === undefined ? '' : ` --step ${step}`
    const command = `slipway logs ${node}${part}${full ? ' --full' : ''}`
    if (full)
      return { node, entries: [{ step: step ?? 'all', text: await this.#fetched(node, step, signal) }], command }
    const order = (await this.#stateOf(node, signal))?.status?.agent?.order
    const steps = order?.steps.filter(({ name }) => step === undefined || name === step) ?? []
    const entries = steps.map(({ name, startedAt, logTail = '' }) => ({
      step: name,
      ...(startedAt !== undefined && { at: startedAt }),
      text: logTail,
    }))
    return { node, entries, command }
  }

  /** Undefined where no agent has reported yet. */
  async #stateOf(name: string, signal: AbortSignal): Promise<NodeState | undefined> {
    try {
      return await this.#deps.api.get(nodeStates, { name }, signal)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async #fetched(name: string, step: string | undefined, signal: AbortSignal): Promise<string> {
    const { api, clock, random } = this.#deps
    const question: LogQuestion = { request: random.uuid(), ...(step !== undefined && { step }), bytes: maxLogBytes }
    const body = { metadata: { annotations: { [logsAnnotation]: JSON.stringify(question) } } }
    const untilMs = clock.monotonicMs() + patienceMs
    let askAgainMs = Number.NEGATIVE_INFINITY
    let turn: LogTurn = 'free'
    while (clock.monotonicMs() < untilMs && !signal.aborted) {
      const state = await this.#stateOf(name, signal)
      turn = state ? logTurn(state, question.request) : 'free'
      const logs = state?.status?.agent?.logs
      if (turn === 'answered' && logs) {
        if (logs.reason) throw new SlipwayError('NotFound', logs.reason.message)
        return (await this.#deps.compression()).unpack(logs.gzip)
      }
      if (turn === 'free' && clock.monotonicMs() >= askAgainMs) {
        await api.patch(nodeStates, { name }, { type: 'merge', body }, signal)
        askAgainMs = clock.monotonicMs() + askAgainAfterMs
      }
      await new Promise<void>((resolve) => clock.after(lookEveryMs, resolve))
    }
    const late = `no answer from ${name} within a minute`
    const nextStep = `look whether operator and agent are well: slipway why ${name}`
    if (turn !== 'behind') throw new SlipwayError('Refused', late, { nextStep })
    throw new SlipwayError('Refused', `${late}: it is asked for another log, too, and answers one question at a time`, {
      nextStep: `ask again; if that does not help, ${nextStep}`,
    })
  }
}
