// All checks at once, so that a person learns of everything that stands in the way in one go.

import { type CheckReport, maxCheckMessage } from '../../api/preflight.ts'
import type { Reason } from '../../api/reason.ts'
import { allChecks } from './all-checks.ts'
import type { Check, CheckView, Finding } from './check.ts'

export interface Preflight {
  readonly reports: readonly CheckReport[]
  /** What keeps the update from starting. */
  readonly refusal: { readonly reason: Reason; readonly lasting: boolean } | undefined
}

interface Answer extends Finding {
  readonly check: Check['name']
}

export function runChecks(view: CheckView, checks: readonly Check[] = allChecks): Preflight {
  const skipped = new Set(view.spec.preflight?.skip)
  const answers = checks.flatMap((check): readonly Answer[] => {
    const finding = check.judge(view)
    return finding ? [{ ...finding, check: check.name }] : []
  })
  const counted = answers.filter(({ check }) => !skipped.has(check))
  return {
    reports: answers.map(({ check, result, message }) =>
      skipped.has(check)
        ? { check, result: 'Skipped', message: cut(`skipped; it would have said ${result}: ${message}`) }
        : { check, result, message: cut(message) },
    ),
    refusal: refusalOf(counted.filter(({ result }) => result === 'Failed' || result === 'Unknown')),
  }
}

/** A check users know by a reason of its own is told by that, the first of them; the others together, by their names. */
function refusalOf(answers: readonly Answer[]): Preflight['refusal'] {
  const known = answers.find(({ code }) => code !== undefined)
  if (known?.code) return { reason: { code: known.code, message: known.message }, lasting: known.lasting ?? false }
  if (answers.length === 0) return undefined
  const message = answers.map(({ check, result, message }) => `${check} (${result}): ${message}`).join('; ')
  return { reason: { code: 'PreflightFailed', message: cut(message, 4096) }, lasting: false }
}

function cut(text: string, most: number = maxCheckMessage): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
