// One call of a hook or of its clean-up: what is run or told, for what, and under which name.

import type { HookAction, HookPoint, HookRun } from '../../api/hook.ts'
import { parseDuration } from '../duration.ts'
import { fingerprint } from '../fingerprint.ts'
import { ownerOfOperation } from '../update/operation.ts'
import type { Subject } from './subject.ts'

export interface HookCall {
  /** The same call has the same: a Job is found again by it, and a server knows that it was told already. */
  readonly key: string
  readonly hook: string
  readonly when: HookPoint
  readonly isCleanup: boolean
  readonly action: HookAction
  readonly subject: Subject
  readonly since: string
  readonly timeoutMs: number
}

export type HookOutcome =
  | { readonly state: 'running' }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed'; readonly message: string }

export const defaultHookTimeout = '5m'

export function hookCall(run: HookRun, node: string | undefined): HookCall {
  return callOf(run, run, node, run.since, false)
}

/** Of a clean-up that was begun. */
export function cleanupCall(run: HookRun, node: string | undefined): HookCall | undefined {
  const { cleanup } = run
  if (cleanup?.since === undefined) return undefined
  return callOf(run, cleanup, node, cleanup.since, true)
}

export function hookKey(run: HookRun, node: string | undefined, isCleanup: boolean): string {
  const { hook, when, operationID, wave, since } = run
  return fingerprint([isCleanup ? 'cleanup' : 'hook', hook, when, operationID, node, wave, since])
}

function callOf(
  run: HookRun,
  { job, http, timeout }: HookAction & { readonly timeout: string },
  node: string | undefined,
  since: string,
  isCleanup: boolean,
): HookCall {
  const { hook, when, operationID, wave } = run
  return {
    key: hookKey(run, node, isCleanup),
    hook,
    when,
    isCleanup,
    action: { ...(job && { job }), ...(http && { http }) },
    subject: { operation: operationID, update: ownerOfOperation(operationID), node, wave },
    since,
    timeoutMs: parseDuration(timeout),
  }
}
