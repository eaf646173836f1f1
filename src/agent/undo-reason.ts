// What is said of an order whose work was to be taken back: that it was, that it could not be, or that taking it back failed, too.

import type { Reason } from '../api/reason.ts'
import type { FailedStep } from './report.ts'
import type { UndoPlan } from './undo-plan.ts'

const longest = 4096
/** Each of two failures gets its share of the words. */
const share = 1700

/** The first words say it: what comes after them may be long. `ran`: the undo steps that had something to do. */
export function takenBack({ code, message }: Reason, { isWhole }: UndoPlan, ran: readonly string[]): Reason {
  const what = isWhole ? 'what it had done was undone' : 'of what it had done a part was undone'
  const by = ran.length === 0 ? '' : ` by ${stepList(ran)}`
  return { code, message: `${what}${by}: ${message}`.slice(0, longest) }
}

export function noReturn(reason: Reason, { step, because }: NonNullable<UndoPlan['pointOfNoReturn']>): Reason {
  const message = `${reason.message}; step ${step} and what came before it were not undone: ${because}`
  return { code: 'PointOfNoReturn', message: message.slice(0, longest) }
}

/** `left`: the undo steps that were not done, the one that failed first among them. */
export function undoFailed(first: Reason, undo: FailedStep, left: readonly string[], nodeName: string): Reason {
  const [failed = '', ...others] = left
  const unrun = others.length === 0 ? '' : `; not run after it: ${stepList(others)}`
  const look = `slipway logs ${nodeName} --step ${failed}`
  const message = `the host is half undone: step ${failed} was to undo what was done and failed${unrun}; look at it with ${look}, then at the host. ${cut(undo.reason.message)}. What came first: ${cut(first.message)}`
  return { code: 'UndoFailed', message: message.slice(0, longest) }
}

function cut(message: string): string {
  return message.length <= share ? message : `${message.slice(0, share)}…`
}

function stepList(names: readonly string[]): string {
  return `${names.length === 1 ? 'step' : 'steps'} ${names.join(', ')}`
}
