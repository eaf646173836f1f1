import type { LabelSelector } from '../api/kube.ts'

type Labels = Readonly<Record<string, string>>

/** Standard Kubernetes meaning: an absent or empty selector matches everything; all terms must hold. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (!selector) return true
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false
  }
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
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
    return false
  })
}

/** One label that whatever matches must carry, as `key=value`; empty where no single one is asked for. */
export function requiredTerm(selector: LabelSelector | undefined): string {
  const [first] = Object.entries(selector?.matchLabels ?? {})
  return first ? `${first[0]}=${first[1]}` : ''
}

/** The terms under which selectors that may match these labels are found. */
export function termsOf(labels: Labels = {}): readonly string[] {
  return ['', ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)]
}

/** As people type it: `pool=a,zone in (x,y)`. */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([name, wanted]) => `${name}=${wanted}`)
  return [...labels, ...(selector?.matchExpressions ?? []).map(expressionText)].join(',')
}

function expressionText({
  key: name,
  operator,
  values = [],
}: NonNullable<LabelSelector['matchExpressions']>[number]): string {
  switch (operator) {
    case 'In':
      return `${name} in (${values.join(',')})`
    case 'NotIn':
      return `${name} notin (${values.join(',')})`
    case 'Exists':
      return name
    case 'DoesNotExist':
      return `!${name}`
  }
}
