// What stands between an update's start and its first node, between its waves, and between its last node and its end: gates
// after waves, and hooks of the update and its waves, in that order.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { HookPoint, HookRun } from '../../api/hook.ts'
import type { Reason } from '../../api/reason.ts'
import { type HookStep, isOwed, stepCleanups, stepHooks } from '../../core/hooks/decide-hooks.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { Hooks } from './hooks.ts'

/** Where an operation stands; waves count from 0. */
export interface WaveStanding {
  readonly operation: Operation
  readonly first: number
  readonly current: number
  /** A node of the current wave was taken: what stands before the wave is behind it. */
  readonly isBegun: boolean
  /** Every node of the last wave is done. */
  readonly isDone: boolean
}

type HookCheck =
  | { readonly check: 'hook'; readonly when: HookPoint; readonly wave?: number }
  | { readonly check: 'cleanup'; readonly wave: number }
type Check = HookCheck | { readonly check: 'gate'; readonly wave: number }

export interface WaveChecksOptions {
  readonly checkpoints: Checkpoints
  readonly hooks: Hooks
  readonly clock: Clock
  readonly wake: (update: string) => void
}

export type WriteRuns = (runs: readonly HookRun[]) => Promise<DirectUpdate | undefined>

export class WaveChecks {
  readonly #options: WaveChecksOptions

  constructor(options: WaveChecksOptions) {
    this.#options = options
  }

  /** Why no node may be taken now or, when all are done, why the update is not over. */
  reason(standing: WaveStanding, update: DirectUpdate): Reason | undefined {
    for (const check of checksOf(standing)) {
      const reason = check.check === 'gate' ? this.#gate(standing, check.wave) : this.#hook(standing, check, update)
      if (reason) return reason
    }
    return undefined
  }

  /** Brings hooks on as far as they can come now. Each write is of the update as it was read. */
  async advance(standing: WaveStanding, update: DirectUpdate, write: WriteRuns): Promise<void> {
    let latest: DirectUpdate | undefined = update
    for (const check of checksOf(standing)) {
      if (check.check === 'gate') {
        if (this.#gate(standing, check.wave)) return
        continue
      }
      for (;;) {
        if (!latest) return
        const step = this.#step(standing, check, latest)
        if (step.step === 'passed') break
        if (step.step === 'record') latest = await this.#record(step.runs, write)
        else if (step.step === 'start') this.#options.hooks.start(step.call, () => this.#wake(update))
        else return
      }
    }
  }

  /** Cleans up after an update that is over or to be deleted; true when nothing is owed any more. */
  async settle(update: DirectUpdate, write: WriteRuns): Promise<boolean> {
    let latest: DirectUpdate | undefined = update
    while (latest && isOwed(latest.status?.hooks)) {
      const step = stepCleanups(this.#view(latest))
      if (step.step === 'record') latest = await this.#record(step.runs, write)
      else if (step.step === 'start') this.#options.hooks.start(step.call, () => this.#wake(update))
      else return false
    }
    return true
  }

  async #record(runs: readonly HookRun[], write: WriteRuns): Promise<DirectUpdate | undefined> {
    const written = await write(runs)
    for (const run of runs) this.#options.hooks.recorded(run, undefined)
    return written
  }

  #wake({ metadata }: DirectUpdate): void {
    this.#options.wake(metadata.name)
  }

  #gate({ operation }: WaveStanding, wave: number): Reason | undefined {
    const verdict = this.#options.checkpoints.afterWave(operation, wave)
    return verdict.state === 'passed' ? undefined : verdict.reason
  }

  #hook(standing: WaveStanding, check: HookCheck, update: DirectUpdate): Reason | undefined {
    const step = this.#step(standing, check, update)
    if (step.step === 'passed') return undefined
    if (step.step === 'record') return { code: 'HookRunning', message: 'the next hook is about to run' }
    return step.reason
  }

  #step({ operation }: WaveStanding, check: HookCheck, update: DirectUpdate): HookStep {
    const view = this.#view(update)
    if (check.check === 'cleanup') return stepCleanups({ ...view, wave: check.wave })
    const { hooks = [], id: operationID } = operation
    return stepHooks({ ...view, hooks, when: check.when, wave: check.wave, operationID })
  }

  #view({ status }: DirectUpdate) {
    const { hooks, clock } = this.#options
    return { runs: status?.hooks ?? [], outcomeOf: hooks.outcome.bind(hooks), now: clock.now() }
  }
}

function* checksOf({ operation, first, current, isBegun, isDone }: WaveStanding): Generator<Check> {
  const has = (...points: readonly HookPoint[]) => operation.hooks?.some(({ when }) => points.includes(when)) === true
  if (isBegun && !isDone) return
  if (!isBegun && has('BeforeUpdate')) yield { check: 'hook', when: 'BeforeUpdate' }
  for (let wave = isBegun ? current : first; wave <= current; wave++) {
    if (wave === current && !isDone) {
      if (has('BeforeWave')) yield { check: 'hook', when: 'BeforeWave', wave }
      continue
    }
    yield { check: 'gate', wave }
    if (has('AfterWave')) yield { check: 'hook', when: 'AfterWave', wave }
    if (has('BeforeWave', 'AfterWave')) yield { check: 'cleanup', wave }
  }
  if (isDone && has('AfterUpdate')) yield { check: 'hook', when: 'AfterUpdate' }
}
