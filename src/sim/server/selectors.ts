import type { LabelSelector } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'

type Labels = Readonly<Record<string, string>> | undefined
export type LabelTest = (labels: Labels) => boolean

/** A selector as it stands in objects; empty selects everything, absent nothing. */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false
  for (const key in selector.matchLabels) if (labels?.[key] !== selector.matchLabels[key]) return false
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (!matchesRequirement(labels?.[key], operator, values ?? [])) return false
  }
  return true
}

// Not that of src/core: what the simulated server answers must not be wrong in the same way as what is decided.
/** Of labels; nodes are asked for numbers, too. */
export function matchesRequirement(
  value: string | undefined,
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
  values: readonly string[],
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k` */
export function parseLabelSelector(text: string): LabelTest {
  const tests = splitTerms(text).map(parseTerm)
  return (labels) => tests.every((test) => test(labels))
}

function splitTerms(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '')
}

function parseTerm(term: string): LabelTest {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term)
  if (set?.[1] !== undefined) {
    const key = set[1]
    const values = (set[3] ?? '').split(',').map((value) => value.trim())
    const operator = set[2] === 'in' ? 'In' : 'NotIn'
    return (labels) => matchesRequirement(labels?.[key], operator, values)
  }
  const equality = /^([^!=\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(term)
  if (equality?.[1] !== undefined) {
    const key = equality[1]
    const value = equality[3] ?? ''
    return equality[2] === '!=' ? (labels) => labels?.[key] !== value : (labels) => labels?.[key] === value
  }
  const existence = /^(!?)\s*([^!=\s()]+)$/.exec(term)
  if (existence?.[2] !== undefined) {
    const key = existence[2]
    const wanted = existence[1] !== '!'
    return (labels) => (labels?.[key] !== undefined) === wanted
  }
  throw new KubeError('Invalid', `unable to parse requirement: ${term}`, { status: 400, reason: 'BadRequest' })
}

export interface FieldTerm {
  readonly field: string
  readonly value: string
  readonly equal: boolean
}

export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text).map((term) => {
    const match = /^([^!=]+)(==|=|!=)(.*)$/.exec(term)
    if (match?.[1] === undefined) {
      throw new KubeError('Invalid', `invalid field selector: ${term}`, { status: 400, reason: 'BadRequest' })
    }
    return { field: match[1], value: match[3] ?? '', equal: match[2] !== '!=' }
  })
}
