// What to do next about hooks. The record comes before the effect, and the effect before the next hook: so at every moment
// the record tells what may have happened, and what is owed.

import type { Hook, HookPoint, HookRun } from '../../api/hook.ts'
import type { Reason } from '../../api/reason.ts'
import { cleanupCall, defaultHookTimeout, type HookCall, type HookOutcome, hookCall } from './hook-call.ts'

export interface RunsView {
  readonly node?: string | undefined
  readonly runs: readonly HookRun[]
  /** Undefined while nobody has started it since the operator did. */
  readonly outcomeOf: (call: HookCall) => HookOutcome | undefined
  readonly now: Date
  /** The word that asks for another attempt of what failed before it was said; a node has its own way to try again. */
  readonly retry?: string | undefined
}

export interface HookView extends RunsView {
  readonly hooks: readonly Hook[]
  readonly when: HookPoint
  readonly operationID: string
  readonly wave?: number | undefined
  /** Why none may begin now; one that has begun comes to its end. */
  readonly held?: Reason | undefined
}

export type CleanupStep =
  | { readonly step: 'passed' }
  /** Write this, then look again. */
  | { readonly step: 'record'; readonly runs: readonly HookRun[] }
  | { readonly step: 'start'; readonly call: HookCall; readonly reason: Reason }
  | { readonly step: 'wait'; readonly reason: Reason }

export type HookStep = CleanupStep | { readonly step: 'failed'; readonly reason: Reason }

/** One after the other, in the order of the list. */
export function stepHooks(view: HookView): HookStep {
  const { operationID, wave, runs } = view
  for (const hook of view.hooks.filter(({ when }) => when === view.when)) {
    const run = runs.find(
      (entry) => entry.hook === hook.name && entry.operationID === operationID && entry.wave === wave,
    )
    // Begun again beside its own clean-up, it could be undone by that.
    if (run?.cleanup?.state === 'Running') return endCleanup(run, run.cleanup, view)
    // What was done before and is cleaned up is not in force any more: who starts again runs it again.
    const isSpent = view.when.startsWith('Before') && run?.cleanup !== undefined && run.cleanup.state !== 'Owed'
    if (!run || isSpent || isRetryDue(run, view)) {
      if (view.held) return { step: 'wait', reason: view.held }
      return { step: 'record', runs: [...recent(runs, view).filter((entry) => entry !== run), newRun(hook, view)] }
    }
    if (run.state === 'Failed') return { step: 'failed', reason: failed(run) }
    if (run.state === 'Running') return endRun(run, view, hook.onFailure === 'Continue' ? 'Ignored' : 'Failed')
  }
  return { step: 'passed' }
}

/** What is owed, the last hook first. A clean-up that failed is told of and not run again. */
export function stepCleanups(view: RunsView & { readonly wave?: number | undefined }): CleanupStep {
  const { runs, wave } = view
  const run = runs.findLast((entry) => isOwed([entry]) && (wave === undefined || entry.wave === wave))
  if (!run?.cleanup) return { step: 'passed' }
  // What was begun comes to its end first: its effect must not come after the clean-up.
  return run.state === 'Running' ? endRun(run, view, 'Failed') : endCleanup(run, run.cleanup, view)
}

function endCleanup(run: HookRun, cleanup: NonNullable<HookRun['cleanup']>, view: RunsView): CleanupStep {
  const { runs, node, now } = view
  const record = (part: Partial<typeof cleanup>): CleanupStep => ({
    step: 'record',
    runs: replaced(runs, run, { ...run, cleanup: { ...cleanup, ...part } }),
  })
  const call = cleanupCall(run, node)
  if (cleanup.state === 'Owed' || !call) return record({ state: 'Running', since: now.toISOString() })
  const outcome = view.outcomeOf(call)
  const reason = running(call)
  if (!outcome) return { step: 'start', call, reason }
  if (outcome.state === 'running') return { step: 'wait', reason }
  if (outcome.state === 'succeeded') return record({ state: 'Succeeded' })
  const message = `the clean-up of hook ${run.hook} failed: ${outcome.message}`.slice(0, 2000)
  return record({ state: 'Failed', reason: { code: 'CleanupFailed', message, since: now.toISOString() } })
}

export function isOwed(runs: readonly HookRun[] | undefined): boolean {
  return runs?.some(({ cleanup }) => cleanup?.state === 'Owed' || cleanup?.state === 'Running') ?? false
}

/** The new run takes the place of the old one, and with it the one clean-up that is owed for both. */
function isRetryDue({ state, retried }: HookRun, { retry }: RunsView): boolean {
  return state === 'Failed' && retry !== undefined && retry !== retried
}

/** Starts the run where nobody has, waits for it, and writes down how it ended. */
function endRun(run: HookRun, view: RunsView, ifFailed: 'Failed' | 'Ignored'): CleanupStep {
  const { runs, node, outcomeOf, now, retry } = view
  const call = hookCall(run, node)
  const outcome = outcomeOf(call)
  if (!outcome) return { step: 'start', call, reason: running(call) }
  if (outcome.state === 'running') return { step: 'wait', reason: running(call) }
  if (outcome.state === 'succeeded') {
    return { step: 'record', runs: replaced(runs, run, { ...run, state: 'Succeeded' }) }
  }
  const reason: Reason = { code: 'HookFailed', message: outcome.message.slice(0, 2000), since: now.toISOString() }
  return {
    step: 'record',
    runs: replaced(runs, run, { ...run, state: ifFailed, reason, ...(retry !== undefined && { retried: retry }) }),
  }
}

function newRun(hook: Hook, { operationID, wave, now }: HookView): HookRun {
  const { name, when, job, http, timeout = defaultHookTimeout, cleanup } = hook
  return {
    hook: name,
    when,
    ...(job && { job }),
    ...(http && { http }),
    timeout,
    operationID,
    ...(wave !== undefined && { wave }),
    state: 'Running',
    since: now.toISOString(),
    ...(cleanup && { cleanup: { ...cleanup, timeout, state: 'Owed' } }),
  }
}

/** Nobody asks for those of waves before the last any more, unless something of them is open: their list has a bound. */
function recent(runs: readonly HookRun[], { wave, operationID }: HookView): readonly HookRun[] {
  if (wave === undefined) return runs
  return runs.filter((run) => {
    const isPast = run.operationID === operationID && run.wave !== undefined && run.wave < wave - 1
    return !isPast || run.state === 'Running' || isOwed([run])
  })
}

function replaced(runs: readonly HookRun[], old: HookRun, by: HookRun): readonly HookRun[] {
  return runs.map((run) => (run === old ? by : run))
}

function running({ hook, isCleanup, action, since }: HookCall): Reason {
  const what = action.job ? `a Job made of CronJob ${action.job.cronJob}` : `POST ${action.http?.url}`
  return { code: 'HookRunning', message: `${isCleanup ? 'the clean-up of ' : ''}hook ${hook} runs: ${what}`, since }
}

function failed({ hook, reason }: HookRun): Reason {
  const message = `hook ${hook} failed: ${reason?.message ?? 'no reason was given'}`
  return { code: 'HookFailed', message, ...(reason?.since !== undefined && { since: reason.since }) }
}
