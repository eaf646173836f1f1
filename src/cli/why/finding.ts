import { type Reason, type ReasonCode, reasonCatalogue } from '../../api/reason.ts'
import { ageText, clockText } from '../time-text.ts'

/** One thing there is to say about why something waits: a sentence, and what a person can do about it. */
export interface Finding {
  readonly text: string
  readonly code?: string
  readonly since?: string
  readonly nextCheck?: string
  readonly advice?: string
}

/** All that was found about one node, update or pod. */
export interface Answer {
  readonly kind: 'Node' | 'DirectUpdate' | 'Pod'
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

export function answerLines({ kind, name, findings }: Answer, now: Date): readonly string[] {
  return [`${kind} ${name}`, ...findings.flatMap((finding) => findingLines(finding, now))]
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
