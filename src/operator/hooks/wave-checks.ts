// What stands between an update's start and its first node, between its waves, and between its last node and its end: gates
// after waves, and hooks of the update and its waves. The control plane is wave 0, waves of workers count from 1.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { HookPoint, HookRun } from '../../api/hook.ts'
import type { Reason } from '../../api/reason.ts'
import type { GateVerdict } from '../../core/gates/decide-gate.ts'
import { type HookStep, isOwed, stepCleanups, stepHooks } from '../../core/hooks/decide-hooks.ts'
import { type Operation, runOf } from '../../core/update/operation.ts'
import { isLastStep } from '../../core/update/path-step.ts'
import { soakedAt } from '../../core/update/waves.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { Hooks } from './hooks.ts'

/** Where an operation stands. */
export interface WaveStanding {
  readonly operation: Operation
  /** Nodes of the control plane are among its own, done or not. */
  readonly hasControlPlane: boolean
  /** The wave it is in. */
  readonly wave: number
  /** Nodes of that wave are still to be done. */
  readonly isOpen: boolean
  /** A worker was taken: what stands before the first of them is behind it. */
  readonly hasBegunWorkers: boolean
  /** Why nothing of it may begin now: neither a node nor a hook that comes before nodes. */
  readonly held?: Reason | undefined
}

/** Asked again and again: each answer is what is known now. */
export interface UpdateChecks {
  /** Why no node may be taken now. */
  starting(standing: WaveStanding): Reason | undefined
  /** Why a wave that is done may not be left behind yet. */
  leaving(standing: WaveStanding, wave: number): Reason | undefined
  /** Whether a wave soaks well. */
  soaking(standing: WaveStanding, wave: number): GateVerdict
  /** Why it is not over though every node is done. */
  ending(standing: WaveStanding): Reason | undefined
}

type HookCheck =
  | { readonly check: 'hook'; readonly when: HookPoint; readonly wave?: number }
  | { readonly check: 'cleanup'; readonly wave: number }
type Check = HookCheck | { readonly check: 'gate'; readonly wave: number }

export interface WaveChecksOptions {
  readonly checkpoints: Checkpoints
  readonly hooks: Hooks
  readonly clock: Clock
  readonly update: (name: string) => DirectUpdate | undefined
  /** Writes what became of hooks, of the update as it was read. */
  readonly write: (name: string, runs: readonly HookRun[], signal: AbortSignal) => Promise<void>
  readonly wake: (update: string) => void
}

export class WaveChecks {
  readonly #options: WaveChecksOptions

  constructor(options: WaveChecksOptions) {
    this.#options = options
  }

  of(name: string): UpdateChecks {
    const first = (standing: WaveStanding, checks: Iterable<Check>) => this.#reason(name, standing, checks)
    return {
      starting: (standing) => first(standing, startChecks(standing)),
      leaving: (standing, wave) => first(standing, leaveChecks(standing, wave)),
      soaking: ({ operation }, wave) => {
        const { checkpoints, clock, update } = this.#options
        return checkpoints.soak(operation, wave, soakedAt(update(name)?.status?.wave?.soakUntil, clock.now()))
      },
      ending: (standing) => first(standing, endChecks(standing)),
    }
  }

  /** Brings hooks on as far as they can come now: those before nodes, and those after the wave or the whole where it is done. */
  async advance(
    name: string,
    standing: WaveStanding,
    isDone: () => { readonly wave: boolean; readonly all: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    if (!standing.operation.hooks?.length) return
    const done = isDone()
    const isStarting = !done.all && standing.operation.cancel === undefined
    if (isStarting) await this.#run(name, standing, startChecks(standing), signal)
    if (done.wave) await this.#run(name, standing, leaveChecks(standing, standing.wave), signal)
    // The control plane alone is left at the end; waves of workers were before.
    if (done.all && (standing.wave === 0 || !this.of(name).leaving(standing, standing.wave))) {
      await this.#run(name, standing, endChecks(standing), signal)
    }
  }

  /** Cleans up after an update that is over or to be deleted; true when nothing is owed any more. */
  async settle(name: string, signal: AbortSignal): Promise<boolean> {
    for (let update = this.#options.update(name); update && isOwed(update.status?.hooks); ) {
      const step = stepCleanups(this.#view(update))
      if (!(await this.#perform(name, step, signal))) return step.step === 'passed'
      update = this.#options.update(name)
    }
    return true
  }

  #reason(name: string, standing: WaveStanding, checks: Iterable<Check>): Reason | undefined {
    const update = this.#options.update(name)
    if (!update) return undefined
    for (const check of checks) {
      const reason = check.check === 'gate' ? this.#gate(standing, check.wave) : this.#hook(standing, check, update)
      if (reason) return reason
    }
    return undefined
  }

  async #run(name: string, standing: WaveStanding, checks: Iterable<Check>, signal: AbortSignal): Promise<void> {
    for (const check of checks) {
      if (check.check === 'gate') {
        if (this.#gate(standing, check.wave)) return
        continue
      }
      for (;;) {
        const update = this.#options.update(name)
        if (!update) return
        const step = this.#step(standing, check, update)
        if (step.step === 'passed') break
        if (!(await this.#perform(name, step, signal))) return
      }
    }
  }

  /** False when there is something to wait for. */
  async #perform(name: string, step: HookStep, signal: AbortSignal): Promise<boolean> {
    const { hooks, write, wake } = this.#options
    if (step.step === 'start') hooks.start(step.call, () => wake(name))
    else if (step.step === 'record') {
      await write(name, step.runs, signal)
      for (const run of step.runs) hooks.recorded(run, undefined)
    } else return false
    return true
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

  #step({ operation, held }: WaveStanding, check: HookCheck, update: DirectUpdate): HookStep {
    const view = this.#view(update)
    if (check.check === 'cleanup') return stepCleanups({ ...view, wave: check.wave })
    const { hooks = [], id, retry } = operation
    // What is done once for an update is done once for all steps of its path.
    const operationID = check.wave === undefined ? runOf(operation) : id
    // A word for some nodes is for those alone.
    const word = retry?.nodes ? undefined : retry?.token
    const isBefore = check.when === 'BeforeUpdate' || check.when === 'BeforeWave'
    const point = { hooks, when: check.when, wave: check.wave, operationID }
    return stepHooks({ ...view, ...point, retry: word, held: isBefore ? held : undefined })
  }

  #view({ status }: DirectUpdate) {
    const { hooks, clock } = this.#options
    return { runs: status?.hooks ?? [], outcomeOf: hooks.outcome.bind(hooks), now: clock.now() }
  }
}

function* startChecks(standing: WaveStanding): Generator<Check> {
  const { operation, hasControlPlane, wave, isOpen, hasBegunWorkers } = standing
  if (has(operation, 'BeforeUpdate')) yield { check: 'hook', when: 'BeforeUpdate' }
  if (wave > 0 && hasControlPlane && !hasBegunWorkers) yield* leaveChecks(standing, 0)
  // One that is done may soak for long, and its hooks are cleaned up by then.
  if (isOpen && has(operation, 'BeforeWave')) yield { check: 'hook', when: 'BeforeWave', wave }
}

function* leaveChecks({ operation }: WaveStanding, wave: number): Generator<Check> {
  yield { check: 'gate', wave }
  if (has(operation, 'AfterWave')) yield { check: 'hook', when: 'AfterWave', wave }
  if (has(operation, 'BeforeWave', 'AfterWave')) yield { check: 'cleanup', wave }
}

function* endChecks(standing: WaveStanding): Generator<Check> {
  // Waves of workers are left one by one; the control plane alone is left at the end.
  if (standing.wave === 0) yield* leaveChecks(standing, 0)
  if (isLastStep(standing.operation.step) && has(standing.operation, 'AfterUpdate'))
    yield { check: 'hook', when: 'AfterUpdate' }
}

function has({ hooks }: Operation, ...points: readonly HookPoint[]): boolean {
  return hooks?.some(({ when }) => points.includes(when)) === true
}
