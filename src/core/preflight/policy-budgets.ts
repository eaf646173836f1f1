import { resolveCount } from '../count.ts'
import { nameList } from '../name-list.ts'
import { isUnavailable } from '../node/node-facts.ts'
import { type Check, namesOf, passed, warned } from './check.ts'

/** Whether the policy lets anything start as things are; it is waited for, so it is no failure. */
export const policyBudgets: Check = {
  name: 'PolicyBudgets',
  judge: ({ nodes, policy }) => {
    if (policy?.paused) return warned('MaintenancePolicy/default is paused: nothing starts before spec.paused is false')
    const away = nodes.filter(isUnavailable)
    const spent = (policy?.budgets ?? []).find(
      ({ maxUnavailable }) => away.length >= resolveCount(maxUnavailable, nodes.length),
    )
    if (!spent) return passed('the budgets of MaintenancePolicy/default leave room')
    return warned(
      `a budget of MaintenancePolicy/default allows ${spent.maxUnavailable} nodes away, and ${nameList(namesOf(away))} is: nothing starts before one is back`,
    )
  },
}
