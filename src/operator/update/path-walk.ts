// From one step of a path of versions to the next: planned anew, and begun by one write.

import type { DirectUpdate } from '../../api/direct-update.ts'
import { runOf } from '../../core/update/operation.ts'
import { pathStepOf, stepText } from '../../core/update/path-step.ts'
import type { Log } from '../../ports/log.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Later, Planner } from '../preflight/planner.ts'
import { advanced, steppedStatus } from './path-status.ts'
import type { RunningOperation } from './running-operation.ts'
import type { UpdateRecord } from './update-record.ts'

export interface PathWalkOptions {
  readonly cluster: Cluster
  readonly record: UpdateRecord
  readonly planner: Planner
  readonly log: Log
}

/** `not-yet`: there is no further step, or the running operation now says why it does not begin. */
export type Advance = { readonly verdict: 'begun' } | { readonly verdict: 'not-yet' } | Later

export class PathWalk {
  readonly #options: PathWalkOptions

  constructor(options: PathWalkOptions) {
    this.#options = options
  }

  /** The next step of its path, once the checks let it begin: one write says that it does. */
  async advance(update: DirectUpdate, running: RunningOperation, signal: AbortSignal): Promise<Advance> {
    const { cluster, record, planner, log } = this.#options
    const { name } = update.metadata
    const path = update.status?.path
    const run = runOf(running.operation)
    const next = path && pathStepOf({ ...update, status: { ...update.status, path: advanced(path) } }, run)
    if (!next) return { verdict: 'not-yet' }
    const plan = await planner.planStep(update, next, signal)
    if (plan.verdict === 'later') return plan
    // Edited while it was planned.
    if (cluster.updates.get(name)?.metadata.generation !== update.metadata.generation) return { verdict: 'not-yet' }
    if (plan.verdict === 'refused') {
      const message = `${stepText(next)} does not begin: ${plan.reason.message}`
      if (running.nextStepWaitsFor?.message !== message)
        record.say(update, { type: 'Warning', reason: plan.reason.code, action: 'Plan', note: message })
      running.nextStepWaitsFor = { ...plan.reason, message: message.slice(0, 4000) }
      return { verdict: 'not-yet' }
    }
    await record.writeStatus(name, (_now, { status = {} }) => steppedStatus(status, plan.preflight), signal)
    record.say(update, { type: 'Normal', reason: 'StepStarted', action: 'Work', note: stepText(next) })
    log.info('update goes to its next step', { update: name, step: next.index + 1, version: next.version })
    return { verdict: 'begun' }
  }
}
