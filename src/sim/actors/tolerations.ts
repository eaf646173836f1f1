import type { PodSpec, Taint, Toleration } from '../../api/kube.ts'

/** Whether a pod may be put on a node with these taints; PreferNoSchedule keeps nobody off. */
export function toleratesAll(tolerations: PodSpec['tolerations'], taints: readonly Taint[] | undefined): boolean {
  return (taints ?? []).every(
    (taint) => taint.effect === 'PreferNoSchedule' || (tolerations ?? []).some((one) => tolerates(one, taint)),
  )
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false
  if (toleration.key !== undefined && toleration.key !== taint.key) return false
  if (toleration.operator === 'Exists') return true
  return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '')
}

/** Whether a cordon keeps the pod off: the real scheduler asks for a toleration of the taint that comes with it. */
export function toleratesCordon(tolerations: PodSpec['tolerations']): boolean {
  return toleratesAll(tolerations, [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }])
}

/** What the DaemonSet controller adds to every pod of its own. */
export const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
]
