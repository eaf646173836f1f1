import type { BudgetSpec } from '../../api/budget.ts'
import type { Node } from '../../api/kube.ts'
import { resolveCount } from '../count.ts'
import { selects } from '../label-selector.ts'
import { nameList } from '../name-list.ts'
import { isUnavailable } from '../node/node-facts.ts'
import { type Check, namesOf, passed, warned } from './check.ts'

/** Whether the policy lets anything start as things are; it is waited for, so it is no failure. */
export const policyBudgets: Check = {
  name: 'PolicyBudgets',
  judge: ({ nodes, selected, policy }) => {
    if (policy?.paused) return warned('MaintenancePolicy/default is paused: nothing starts before spec.paused is false')
    const chosen = new Set(selected)
    const spent = (policy?.budgets ?? []).flatMap((budget) =>
      setsOf(budget, nodes).flatMap((set) => {
        const away = set.nodes.filter(isUnavailable)
        const counts = set.nodes.some((node) => chosen.has(node) && !isUnavailable(node))
        return counts && away.length >= resolveCount(budget.maxUnavailable, set.nodes.length)
          ? [`${set.name} (${budget.maxUnavailable} allowed, away: ${nameList(namesOf(away))})`]
          : []
      }),
    )
    if (spent.length === 0) return passed('the budgets of MaintenancePolicy/default leave room')
    return warned(
      `budgets of MaintenancePolicy/default are spent: ${nameList(spent)}; there nothing starts before one is back`,
    )
  },
}

/** The sets of nodes a budget counts, one for each value of its label. */
function setsOf(
  { per, nodeSelector }: BudgetSpec,
  nodes: readonly Node[],
): readonly { readonly name: string; readonly nodes: readonly Node[] }[] {
  const counted = nodes.filter(({ metadata }) => selects(nodeSelector, metadata.labels))
  if (per === undefined) return [{ name: nodeSelector ? 'the selected nodes' : 'the cluster', nodes: counted }]
  const values = Map.groupBy(counted, ({ metadata }) => metadata.labels?.[per] ?? '')
  return [...values].map(([value, set]) => ({ name: value === '' ? `no ${per}` : `${per}=${value}`, nodes: set }))
}
