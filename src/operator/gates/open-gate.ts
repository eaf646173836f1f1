// One gate that somebody asks for: looked at when it is opened, when what it watches changes, and every so often.

import type { GateStatus } from '../../api/gate.ts'
import { decideGate, type GateVerdict } from '../../core/gates/decide-gate.ts'
import type { Gate, Look } from '../../core/gates/gate.ts'
import type { Subject } from '../../core/hooks/subject.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import { type Looker, type LookerTools, openLooker } from './lookers.ts'

export interface OpenGateOptions {
  readonly tools: LookerTools
  readonly gate: Gate
  readonly subject: Subject
  readonly since: string | undefined
  readonly graceUntil: Date
  readonly wake: () => void
  readonly onClose: (gate: OpenGate) => void
  readonly signal: AbortSignal
}

/** A look that takes longer than this after it was due does not stand for the present any more. */
const staleMs = 15_000
const unseen: Look = { state: 'unseen', message: 'has not been looked at yet' }
const outdated: Look = { state: 'unseen', message: 'is looked at once more' }

export class OpenGate {
  readonly gate: Gate
  readonly subject: Subject
  readonly #options: OpenGateOptions
  readonly #looker: Looker
  readonly #life: LinkedAbort
  #look: Look = unseen
  #lookedMs: number
  /** When the last look was begun, by the clock on the wall as `#freshMs`: from when on it must have been. */
  #begunMs = Number.NEGATIVE_INFINITY
  #freshMs = Number.NEGATIVE_INFINITY
  /** Since when it has not held. */
  #sinceMs: number
  #wanted = true
  /** Whoever asked last was told that it holds, and has gone on: what it says since is of no interest until somebody asks again. */
  #isPassed = false
  #looking = false
  #again = false
  #cancel: CancelTimer = () => undefined

  constructor(options: OpenGateOptions) {
    const { gate, subject, tools, signal } = options
    this.gate = gate
    this.subject = subject
    this.#options = options
    const { clock } = tools.ports
    this.#lookedMs = clock.monotonicMs()
    this.#sinceMs = options.since === undefined ? clock.now().getTime() : Date.parse(options.since)
    this.#life = new LinkedAbort(signal)
    this.#life.signal.addEventListener('abort', () => this.#cancel(), { once: true })
    this.#looker = openLooker(gate, subject, tools, () => this.#refresh())
    this.#refresh()
    this.#schedule()
  }

  /** Somebody still wants to know; false when the gate was edited and this is not it any more. */
  asked(gate: Gate): boolean {
    if (gate !== this.gate && !equalJson(gate, this.gate)) return false
    this.#wanted = true
    return true
  }

  /** A look that was begun before `notBefore` does not count. */
  verdict(notBefore?: string): GateVerdict {
    this.#freshen(notBefore === undefined ? Number.NEGATIVE_INFINITY : Date.parse(notBefore))
    const verdict = this.#verdict()
    this.#isPassed = verdict.state === 'passed'
    return verdict
  }

  #verdict(): GateVerdict {
    const { clock } = this.#options.tools.ports
    return decideGate(this.gate, this.#current(), clock.now().getTime(), this.#lateMs())
  }

  /** Undefined while it holds, was not looked at, or has been passed. */
  status(): GateStatus | undefined {
    if (this.#isPassed) return undefined
    const verdict = this.#verdict()
    if (verdict.state === 'passed' || verdict.state === 'unseen') return undefined
    const { node, wave } = this.subject
    return {
      name: this.gate.name,
      when: this.gate.when,
      ...(node !== undefined && { node }),
      ...(wave !== undefined && { wave }),
      state: verdict.state === 'failed' ? 'Failed' : 'Waiting',
      since: new Date(this.#sinceMs).toISOString(),
      reason: verdict.reason,
    }
  }

  close(): void {
    this.#cancel()
    this.#looker.close()
    this.#life.abort('nobody asks any more')
    this.#options.onClose(this)
  }

  #freshen(freshMs: number): void {
    if (this.#freshMs === freshMs) return
    this.#freshMs = freshMs
    if (this.#begunMs < freshMs) this.#refresh()
  }

  #current(): Look {
    const { clock } = this.#options.tools.ports
    if (this.#look.state !== 'holds') return this.#look
    if (this.#begunMs < this.#freshMs) return outdated
    const ageMs = clock.monotonicMs() - this.#lookedMs
    if (ageMs <= this.gate.everyMs + staleMs) return this.#look
    return { state: 'unknown', message: `held ${Math.round(ageMs / 1000)} s ago; there is no answer since` }
  }

  #lateMs(): number {
    return Math.max(Math.max(this.#sinceMs, this.#freshMs) + this.gate.timeoutMs, this.#options.graceUntil.getTime())
  }

  /** Those who want to know ask again when they are woken; a gate nobody asked for since the last time is let go. */
  #schedule(): void {
    const { clock } = this.#options.tools.ports
    const leftMs = this.#lateMs() - clock.now().getTime()
    const waitMs = leftMs > 0 ? Math.min(this.gate.everyMs, leftMs) : this.gate.everyMs
    this.#cancel = clock.after(waitMs, () => {
      if (this.#life.signal.aborted) return
      if (!this.#wanted) {
        this.close()
        return
      }
      this.#wanted = false
      this.#schedule()
      this.#refresh()
      this.#options.wake()
    })
  }

  #refresh(): void {
    if (this.#looking) {
      this.#again = true
      return
    }
    this.#looking = true
    void this.#lookOnce().finally(() => {
      this.#looking = false
      if (!this.#again || this.#life.signal.aborted) return
      this.#again = false
      this.#refresh()
    })
  }

  async #lookOnce(): Promise<void> {
    const { tools, wake } = this.#options
    const { signal } = this.#life
    const before = this.#current()
    const begunMs = tools.ports.clock.now().getTime()
    try {
      const look = await this.#looker.look(signal)
      if (!signal.aborted) this.#learn(look, begunMs)
    } catch (error) {
      if (signal.aborted) return
      tools.ports.log.warn('a gate could not be looked at', { gate: this.gate.name, error })
      const message = error instanceof Error ? error.message : String(error)
      this.#learn({ state: 'unknown', message: `cannot be looked at: ${message}` }, begunMs)
    }
    if (!equalJson(before, this.#current())) wake()
  }

  #learn(look: Look, begunMs: number): void {
    const { clock } = this.#options.tools.ports
    if (this.#look.state === 'holds' && look.state !== 'holds') this.#sinceMs = clock.now().getTime()
    this.#look = look
    this.#begunMs = begunMs
    this.#lookedMs = clock.monotonicMs()
  }
}
