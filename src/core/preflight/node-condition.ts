import type { Node } from '../../api/kube.ts'

export function conditionHolds({ status }: Node, type: 'DiskPressure' | 'MemoryPressure'): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
}
