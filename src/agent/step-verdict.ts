// How a start of a step went, in words for people, with the last of its log.

import type { StepStart } from '../api/journal.ts'
import { isReasonCode, type Reason } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { formatDuration } from '../core/duration.ts'
import type { Step } from './drivers/driver.ts'
import type { FailedStep } from './report.ts'
import { type Ending, knowing, type StepRun } from './step-run.ts'

const tailBytes = 4096

/** Undefined when the step ended well and its effect is there. */
export async function judge(
  run: StepRun,
  begun: StepStart,
  ending: Ending,
  signal: AbortSignal,
): Promise<FailedStep | undefined> {
  const logTail = await readTail(run, begun.starts)
  const name = run.step.name
  const failed = (code: Reason['code'], message: string): FailedStep => ({
    index: run.index,
    finishedAt: run.clock.now(),
    // What the agent did itself says what went wrong; its log is for those who want to know how it came to that.
    reason: { code, message: 'act' in run.step ? message : withLastLines(message, logTail) },
    ...(logTail !== undefined && { logTail }),
  })
  switch (ending.state) {
    case 'exited': {
      const { exitCode } = ending
      if (exitCode !== 0) return failed(exitReason(run.step, exitCode), `step ${name} ended with exit code ${exitCode}`)
      const missing = await whatIsMissing(run, begun, signal)
      return missing === undefined ? undefined : failed('StepFailed', `step ${name} ended well, but ${missing}`)
    }
    case 'timedOut':
      return failed('StepTimedOut', `step ${name} was ended after ${formatDuration(ending.afterMs)}: it took too long`)
    case 'threw':
      return failed(codeOf(ending.error), `step ${name} failed: ${messageOf(ending.error)}`)
    case 'notStarted':
      return failed('StepFailed', `step ${name} could not be started: ${messageOf(ending.error)}`)
    case 'unrun':
      return failed('StepFailed', `step ${name} was never let run: who held it ended first, again and again`)
    case 'gone':
    case 'running':
    case 'unwritten':
      return failed('StepFailed', `step ${name} was killed: it left no exit code${doubtAbout(run.step)}`)
  }
}

function doubtAbout(step: Step): string {
  if ('act' in step || step.showsEffect) return ''
  return ', and whether it did its work is not known: look at the host before it is retried'
}

async function whatIsMissing(run: StepRun, begun: StepStart, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await run.step.missing?.(knowing(run.context, begun), signal)
  } catch (error) {
    if (signal.aborted) throw error
    return `its effect could not be looked at: ${messageOf(error)}`
  }
}

export async function readTail(run: StepRun, start: number): Promise<string | undefined> {
  const { log } = run.folder.pathsOf(run.index, start)
  const tail = await run.host.disk.readTail(log, tailBytes)
  // The cut may have gone through a character.
  const text = tail?.replace(/^\uFFFD+/, '').slice(-tailBytes)
  return text === undefined || text.trim() === '' ? undefined : text
}

function withLastLines(message: string, logTail: string | undefined): string {
  if (logTail === undefined) return message
  const lines = logTail.trimEnd().split('\n').slice(-10).join('\n').slice(-2000)
  return `${message}; its last lines: ${lines}`
}

function exitReason(step: Step, exitCode: number): Reason['code'] {
  return ('act' in step ? undefined : step.exitReasons?.[exitCode]) ?? 'StepFailed'
}

export function codeOf(error: unknown): Reason['code'] {
  return error instanceof SlipwayError && isReasonCode(error.code) ? error.code : 'StepFailed'
}

export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}
