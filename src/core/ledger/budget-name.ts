import type { BudgetSpec } from '../../api/budget.ts'
import { selectorText } from '../label-selector.ts'

/** `cluster`, `zone eu-1a`, `no zone`, `pool=a`, `zone eu-1a of pool=a`. */
export function budgetSetName({ per, nodeSelector }: BudgetSpec, value: string | undefined): string {
  const among = selectorText(nodeSelector)
  if (per === undefined) return among === '' ? 'cluster' : among
  const label = per.slice(per.lastIndexOf('/') + 1)
  const set = value === undefined ? `no ${label}` : `${label} ${value}`
  return among === '' ? set : `${set} of ${among}`
}

/** Of all its sets: `cluster`, `per zone`, `pool=a`, `per zone of pool=a`. */
export function budgetTitle({ per, nodeSelector }: BudgetSpec): string {
  const among = selectorText(nodeSelector)
  if (per === undefined) return among === '' ? 'cluster' : among
  const label = `per ${per.slice(per.lastIndexOf('/') + 1)}`
  return among === '' ? label : `${label} of ${among}`
}
