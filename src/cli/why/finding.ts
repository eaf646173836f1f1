import { type Reason, type ReasonCode, reasonCatalogue, reasonGroups } from '../../api/reason.ts'
import { isInGoodOrder } from '../../core/drain/in-good-order.ts'
import { ageText, clockText } from '../time-text.ts'

/** One thing there is to say about why something waits: a sentence, and what a person can do about it. */
export interface Finding {
  readonly text: string
  readonly code?: string
  readonly since?: string
  readonly nextCheck?: string
  readonly advice?: string
}

/** All that was found about one node, update, profile or pod. */
export interface Answer {
  readonly kind: 'Node' | 'DirectUpdate' | 'NodeProfile' | 'Pod'
  readonly name: string
  readonly findings: readonly Finding[]
}

export function reasonFinding(who: string, reason: Reason): Finding {
  return {
    text: `${who}: ${reason.message}`,
    code: reason.code,
    ...(reason.since !== undefined && { since: reason.since }),
    ...(reason.nextCheck !== undefined && { nextCheck: reason.nextCheck }),
    advice: reasonCatalogue[reason.code],
  }
}

/** What the catalogue says about a code that may come from a newer operator. */
export function adviceFor(code: string): string | undefined {
  return isReasonCode(code) ? reasonCatalogue[code] : undefined
}

function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(reasonCatalogue, text)
}

/** The one that explains the others: what a pod waits for before what its node does, what has a reason before what has none. */
export function causeOf({ findings }: Answer): Finding | undefined {
  return findings.toSorted((a, b) => weight(b) - weight(a))[0]
}

function weight({ code }: Finding): number {
  if (code === undefined) return 0
  // That nodes failed says nothing of why.
  if (code === 'NodesFailed' || !isReasonCode(code)) return 1
  // A drain that goes well explains nothing else.
  if (isInGoodOrder({ code })) return 1
  return isOfPod(code) ? 3 : 2
}

/** That a drain is late says nothing of why. */
function isOfPod(code: string): boolean {
  return Object.hasOwn(reasonGroups.draining, code) && !code.startsWith('Drain')
}

/** One sentence first: the cause, since when, and when it is looked at again; then all else there is to say. */
export function answerLines(answer: Answer, now: Date): readonly string[] {
  const { kind, name, findings } = answer
  const cause = causeOf(answer)
  const [sentence = '', ...more] = cause ? findingLines(cause, now) : []
  const others = findings.filter((finding) => finding !== cause)
  return [
    `${kind} ${name}: ${sentence.trimStart()}`,
    ...more.map((line) => line.slice(2)),
    ...others.flatMap((finding) => findingLines(finding, now)),
  ]
}

function findingLines({ text, code, since, nextCheck, advice }: Finding, now: Date): readonly string[] {
  const times = [
    ...(since === undefined ? [] : [`since ${clockText(new Date(since))}, ${ageText(since, now)}`]),
    ...(nextCheck === undefined ? [] : [`looking again at ${clockText(new Date(nextCheck))}`]),
  ]
  return [
    `  ${text}${times.length > 0 ? ` (${times.join('; ')})` : ''}`,
    ...(advice === undefined ? [] : [`    ${code === undefined ? '' : `${code}: `}${advice}`]),
  ]
}
