// Gates as the controllers ask for them: the answer is at once what is known, and who asked is woken when it changes. A gate
// that nobody asks for any more is let go by itself; nothing has to be closed.

import { type GatePoint, type GateStatus, maxGates } from '../../api/gate.ts'
import type { GateVerdict } from '../../core/gates/decide-gate.ts'
import type { Gate } from '../../core/gates/gate.ts'
import type { Subject } from '../../core/hooks/subject.ts'
import type { LookerTools } from './lookers.ts'
import { OpenGate } from './open-gate.ts'

export interface GateQuestion extends Subject {
  /** All gates of the operation. */
  readonly gates: readonly Gate[]
  readonly when: GatePoint
  /** Since when the gate of that name has not held, as it was recorded: a restart must not start its time anew. */
  readonly since: (gate: string) => string | undefined
  /** A look that was begun earlier is not good enough. */
  readonly notBefore?: string | undefined
  /** Called when the answer may be another, and now and then: who still wants to know asks again. */
  readonly wake: () => void
}

export class Gates {
  readonly #tools: LookerTools
  /** Nothing is judged late before this. */
  readonly #graceUntil: Date
  readonly #signal: AbortSignal
  readonly #open = new Map<string, OpenGate>()

  constructor(tools: LookerTools, graceUntil: Date, signal: AbortSignal) {
    this.#tools = tools
    this.#graceUntil = graceUntil
    this.#signal = signal
  }

  /** Whether all gates of that point hold now. Before the first look the answer is to wait. */
  verdict(question: GateQuestion): GateVerdict {
    const verdicts = question.gates
      .filter(({ when }) => when === question.when)
      .map((gate) => this.#opened(gate, question).verdict(question.notBefore))
    return (
      verdicts.find(({ state }) => state === 'failed') ??
      verdicts.find(({ state }) => state === 'waiting') ??
      verdicts.find(({ state }) => state === 'unseen') ?? { state: 'passed' }
    )
  }

  /** Those of an operation that were looked at and do not hold, for its status. */
  standing(operation: string): readonly GateStatus[] {
    return [...this.#open.values()]
      .filter(({ subject, gate }) => subject.operation === operation && gate.when !== 'AfterNode')
      .flatMap((open) => open.status() ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, 2 * maxGates)
  }

  #opened(gate: Gate, question: GateQuestion): OpenGate {
    const { operation, update, node, wave, attempt, when } = question
    const key = JSON.stringify([operation, when, node, wave, attempt, gate.name])
    const known = this.#open.get(key)
    if (known?.asked(gate)) return known
    known?.close()
    const opened = new OpenGate({
      tools: this.#tools,
      gate,
      subject: { operation, update, node, wave, attempt },
      since: question.since(gate.name),
      graceUntil: this.#graceUntil,
      wake: question.wake,
      onClose: (closed) => {
        if (this.#open.get(key) === closed) this.#open.delete(key)
      },
      signal: this.#signal,
    })
    this.#open.set(key, opened)
    return opened
  }
}

/** Since when a gate of an update has not held, as its status has it. */
export function recordedSince(
  statuses: readonly GateStatus[] | undefined,
  when: GatePoint,
  { node, wave }: Pick<Subject, 'node' | 'wave'>,
): (gate: string) => string | undefined {
  return (name) =>
    statuses?.find((entry) => {
      return entry.name === name && entry.when === when && entry.node === node && entry.wave === wave
    })?.since
}
