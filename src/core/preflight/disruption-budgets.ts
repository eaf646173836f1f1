import { nameList } from '../name-list.ts'
import { type Check, passed, seeing, unknown } from './check.ts'
import { blocked } from './drain-force.ts'

/** Budgets that allow nobody to go even when all their pods are healthy: a drain would wait for ever. */
export const disruptionBudgets: Check = {
  name: 'DisruptionBudgets',
  judge: seeing(
    ({ pods }) => pods,
    ({ budgets }, view) => {
      const broken = budgets.flatMap(({ name, unreckoned }) =>
        unreckoned === undefined ? [] : [`${name} (${unreckoned})`],
      )
      if (broken.length > 0) {
        return blocked(view)(
          `PodDisruptionBudgets that the cluster cannot reckon, so that they allow no eviction: ${nameList(broken)}; give them minAvailable as a number`,
        )
      }
      const never = budgets.filter(
        ({ current, expectedPods, desiredHealthy }) => current && expectedPods > 0 && desiredHealthy >= expectedPods,
      )
      if (never.length > 0) {
        const said = never.map(
          ({ name, expectedPods, desiredHealthy, example }) =>
            `${name} (wants ${desiredHealthy} of ${expectedPods} pods healthy, as ${example})`,
        )
        return blocked(view)(
          `PodDisruptionBudgets that can never allow an eviction: ${nameList(said)}; add replicas or relax them`,
        )
      }
      const silent = budgets.filter(({ current }) => !current).map(({ name }) => name)
      if (silent.length > 0) {
        return unknown(
          `the status of PodDisruptionBudgets ${nameList(silent)} is not up to date; is the controller running?`,
        )
      }
      return passed(`${budgets.length} budgets can allow evictions`)
    },
  ),
}
