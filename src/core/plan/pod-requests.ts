import type { Container, Pod } from '../../api/kube.ts'
import { parseQuantity } from '../kubernetes/quantity.ts'

export type Amounts = ReadonlyMap<string, number>

/** What a pod takes of a node: all containers together, no less than the hungriest of those that run before them; and one place. */
export function podRequests({ containers, initContainers = [] }: Pod['spec']): Amounts {
  const total = new Map<string, number>()
  const take = ({ resources }: Container, combine: (known: number, amount: number) => number) => {
    for (const [name, text] of Object.entries(resources?.requests ?? {})) {
      total.set(name, combine(total.get(name) ?? 0, parseQuantity(String(text)) ?? 0))
    }
  }
  const lasting = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')]
  for (const container of lasting) take(container, (known, amount) => known + amount)
  for (const container of initContainers) take(container, Math.max)
  return total.set('pods', 1)
}
