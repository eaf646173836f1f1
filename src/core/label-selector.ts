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

/** As the API's query parameter has it; empty = everything. */
export function selectorText(selector: LabelSelector | undefined): string {
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const others = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    switch (operator) {
      case 'In':
        return `${key} in (${values.join(',')})`
      case 'NotIn':
        return `${key} notin (${values.join(',')})`
      case 'Exists':
        return key
      case 'DoesNotExist':
        return `!${key}`
    }
    return ''
  })
  return [...equal, ...others].join(',')
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
