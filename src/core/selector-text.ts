// Label selectors between the text people type (`pool=a,zone in (x,y),!gpu`) and the object resources carry.

import type { LabelSelector } from '../api/kube.ts'
import { SlipwayError } from '../api/slipway-error.ts'

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

const key = '([A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?)'
const value = '([A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?'
const equality = new RegExp(`^${key}\\s*(==|=|!=)\\s*${value}$`)
const set = new RegExp(`^${key}\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const existence = new RegExp(`^(!?)\\s*${key}$`)
const wholeValue = new RegExp(`^${value}$`)

export function parseSelector(text: string): LabelSelector {
  const matchLabels: Record<string, string> = {}
  const matchExpressions: Requirement[] = []
  for (const term of terms(text)) {
    const requirement = parseTerm(term)
    if (requirement === undefined) throw wrong(text, term)
    if ('equals' in requirement && matchLabels[requirement.key] === undefined) {
      matchLabels[requirement.key] = requirement.equals
    } else if ('equals' in requirement) {
      matchExpressions.push({ key: requirement.key, operator: 'In', values: [requirement.equals] })
    } else matchExpressions.push(requirement)
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  }
}

function parseTerm(term: string): Requirement | { readonly key: string; readonly equals: string } | undefined {
  const equal = equality.exec(term)
  if (equal) {
    const [, name = '', sign, wanted = ''] = equal
    return sign === '!=' ? { key: name, operator: 'NotIn', values: [wanted] } : { key: name, equals: wanted }
  }
  const member = set.exec(term)
  if (member) {
    const [, name = '', sign, list = ''] = member
    const values = list.split(',').map((item) => item.trim())
    if (!values.every((item) => wholeValue.test(item))) return undefined
    return { key: name, operator: sign === 'in' ? 'In' : 'NotIn', values }
  }
  const exists = existence.exec(term)
  if (!exists) return undefined
  return { key: exists[2] ?? '', operator: exists[1] === '!' ? 'DoesNotExist' : 'Exists' }
}

/** Splits at the commas that are not inside parentheses. */
function terms(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).map((term) => term.trim())
}

function wrong(text: string, term: string): SlipwayError {
  return new SlipwayError(
    'Usage',
    `"${text}" is not a label selector${term === '' ? '' : `: "${term}" is not understood`}`,
    {
      nextStep: 'write it like pool=a, "zone in (x,y)" or "!gpu", joined by commas',
    },
  )
}
