import { nameList } from '../name-list.ts'
import { type Check, passed, seeing } from './check.ts'
import { blocked } from './drain-force.ts'

/** The eviction API answers 500 for such a pod, whatever the budgets allow. */
export const podsUnderTwoBudgets: Check = {
  name: 'PodsUnderTwoBudgets',
  judge: seeing(
    ({ pods }) => pods,
    ({ underTwo }, view) => {
      if (underTwo.total === 0) return passed('no pod is under two budgets')
      const said = underTwo.first.map(({ pod, budgets }) => `${pod} (${budgets.join(' and ')})`)
      return blocked(view)(
        `the API server evicts no pod under two PodDisruptionBudgets: ${nameList(said, underTwo.total)}; remove one of them`,
      )
    },
  ),
}
