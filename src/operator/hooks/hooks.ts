// Carries out the calls of hooks. What became of one is known by its Job, or was never answered and is told again under the
// same key; nothing here has to survive.

import type { HookRun } from '../../api/hook.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type HookCall, type HookOutcome, hookKey } from '../../core/hooks/hook-call.ts'
import { environmentOf } from '../../core/hooks/subject.ts'
import { backOffMs } from '../../kube/back-off.ts'
import { sleep } from '../../kube/sleep.ts'
import type { JobRuns } from '../gates/job-runs.ts'
import type { OperatorPorts } from '../ports.ts'

const backOff = { baseMs: 1_000, maxMs: 30_000 }
/** The API server ends a Job at its deadline; only then, and a while later, we give it up. */
const jobGraceMs = 30_000
/** Whether the watch still hears of Jobs is known by looking only. */
const lookAgainMs = 10_000
/** One POST may take so long; the whole call has its own time. */
const answerMs = 30_000

export class Hooks {
  readonly #ports: OperatorPorts
  readonly #jobs: JobRuns
  readonly #graceUntil: Date
  readonly #signal: AbortSignal
  readonly #known = new Map<string, HookOutcome>()

  constructor(ports: OperatorPorts, jobs: JobRuns, graceUntil: Date, signal: AbortSignal) {
    this.#ports = ports
    this.#jobs = jobs
    this.#graceUntil = graceUntil
    this.#signal = signal
  }

  outcome({ key }: HookCall): HookOutcome | undefined {
    return this.#known.get(key)
  }

  /** Starts what is not under way; `wake` is called when it has ended. */
  start(call: HookCall, wake: () => void): void {
    if (this.#known.has(call.key)) return
    this.#known.set(call.key, { state: 'running' })
    const signal = this.#signal
    const run = call.action.job ? this.#runJob(call, signal) : this.#tell(call, signal)
    void run
      .catch((error: unknown): HookOutcome => {
        if (!signal.aborted) this.#ports.log.warn('a hook could not be run', { hook: call.hook, error })
        return { state: 'failed', message: error instanceof Error ? error.message : String(error) }
      })
      .then((outcome) => {
        if (signal.aborted) return
        this.#known.set(call.key, outcome)
        wake()
      })
  }

  /** What has ended and is written down need not be remembered. */
  recorded(run: HookRun, node: string | undefined): void {
    const { state, cleanup } = run
    if (state !== 'Running') this.#known.delete(hookKey(run, node, false))
    if (cleanup?.state === 'Succeeded' || cleanup?.state === 'Failed') this.#known.delete(hookKey(run, node, true))
  }

  /** `begunAt`: where that was later than it was asked for. */
  #leftMs({ since, timeoutMs }: HookCall, extraMs = 0, begunAt = since): number {
    const sinceMs = Math.max(Date.parse(since), Date.parse(begunAt))
    const lateMs = Math.max(sinceMs + timeoutMs + extraMs, this.#graceUntil.getTime())
    return lateMs - this.#ports.clock.now().getTime()
  }

  async #runJob(call: HookCall, signal: AbortSignal): Promise<HookOutcome> {
    const { clock, random } = this.#ports
    const wish = {
      purpose: `hook ${call.key}`,
      cronJob: call.action.job?.cronJob ?? '',
      environment: { ...environmentOf(call.subject), SLIPWAY_HOOK: call.hook },
      timeoutMs: call.timeoutMs,
    }
    let isNews = false
    let onNews = () => {}
    const followed = this.#jobs.follow(() => {
      isNews = true
      onNews()
    })
    try {
      for (let failures = 0; ; ) {
        isNews = false
        const look = await this.#jobs.look(wish, followed, signal)
        if (look?.state === 'holds') return { state: 'succeeded' }
        if (look?.state === 'broken') return { state: 'failed', message: look.message }
        // One that could be made only late has its whole time: given up earlier it would still have its effect.
        const leftMs = this.#leftMs(call, jobGraceMs, this.#jobs.madeAt(wish, followed))
        if (leftMs <= 0) {
          return { state: 'failed', message: look?.message ?? `its Job did not end within ${call.timeoutMs / 1000} s` }
        }
        if (look?.state === 'unknown') {
          await sleep(clock, Math.min(leftMs, backOffMs(backOff, ++failures, random)), signal)
          continue
        }
        failures = 0
        if (isNews) continue
        await new Promise<void>((resolve) => {
          const wakeUp = () => {
            cancel()
            signal.removeEventListener('abort', wakeUp)
            resolve()
          }
          const cancel = clock.after(Math.min(leftMs, lookAgainMs), wakeUp)
          onNews = wakeUp
          signal.addEventListener('abort', wakeUp, { once: true })
        })
        if (signal.aborted) throw signal.reason
      }
    } finally {
      followed.release()
    }
  }

  /** Tells it again until it is heard or its time is over; the key says that it is the same call. */
  async #tell(call: HookCall, signal: AbortSignal): Promise<HookOutcome> {
    const { web, clock, random } = this.#ports
    if (!web) return { state: 'failed', message: 'this operator has no way to tell a server' }
    const { hook, when, isCleanup, subject, key } = call
    const url = call.action.http?.url ?? ''
    const body = JSON.stringify({ hook, when, cleanup: isCleanup, ...subject })
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    for (let failures = 0; ; failures++) {
      let message: string
      try {
        const answer = await web.request({ method: 'POST', url, headers, body, timeoutMs: answerMs }, signal)
        if (answer.status >= 200 && answer.status < 300) return { state: 'succeeded' }
        message = `${url} answered ${answer.status}: ${answer.body.slice(0, 200)}`
        if (answer.status < 500 && answer.status !== 408 && answer.status !== 429) return { state: 'failed', message }
      } catch (error) {
        if (signal.aborted || !(error instanceof SlipwayError)) throw error
        message = error.message
      }
      const leftMs = this.#leftMs(call)
      if (leftMs <= 0) return { state: 'failed', message }
      await sleep(clock, Math.min(leftMs, backOffMs(backOff, failures + 1, random)), signal)
    }
  }
}
