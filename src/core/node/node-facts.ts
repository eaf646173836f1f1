// What a Node object says, in our words.

import type { Condition, Node, Pod, Taint } from '../../api/kube.ts'

/** In the same patch as the cordon itself: the operation it belongs to. A cordon without it is a person's. */
export const cordonAnnotation = 'slipway.dev/cordon'

/** Whose cordon it is when our work is over and a person keeps the node. */
export const keptForPerson = 'hold'

export type Role = 'ControlPlane' | 'Worker'

export function roleOf(node: Node): Role {
  const labels = node.metadata.labels
  return labels && ('node-role.kubernetes.io/control-plane' in labels || 'node-role.kubernetes.io/master' in labels)
    ? 'ControlPlane'
    : 'Worker'
}

export function readyCondition(node: Node): Condition | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')
}

export function isReady(node: Node): boolean {
  return readyCondition(node)?.status === 'True'
}

export function isCordoned(node: Node): boolean {
  return node.spec.unschedulable === true
}

/** The operation whose cordon this is; undefined for none or a person's. */
export function cordonOwner(node: Node): string | undefined {
  return node.metadata.annotations?.[cordonAnnotation]
}

/** Away for the cluster's budgets: nothing new can run there, whoever is the cause. */
export function isUnavailable(node: Node): boolean {
  return isCordoned(node) || !isReady(node) || node.metadata.deletionTimestamp !== undefined
}

/** Whether ordinary pods can go there while it is up: nobody keeps it for pods of a kind. */
export function takesPods({ spec }: Node): boolean {
  const ofTheMoment = 'node.kubernetes.io/'
  return !spec.taints?.some(({ key, effect }) => effect !== 'PreferNoSchedule' && !key.startsWith(ofTheMoment))
}

/** In a few words, why nothing new can run there. */
export function whyAway(node: Node | undefined): string {
  if (!node || node.metadata.deletionTimestamp !== undefined) return 'being deleted'
  if (!isReady(node)) return 'not Ready'
  const owner = cordonOwner(node)
  if (owner === keptForPerson) return 'kept by a person'
  return owner === undefined ? 'cordoned by a person' : `cordoned for ${owner}`
}

/** Whether this node could take the pod over, as far as taints, node selector and cordon tell. */
export function couldRun(node: Node, pod: Pod): boolean {
  if (isUnavailable(node)) return false
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) {
    if (node.metadata.labels?.[key] !== value) return false
  }
  return (node.spec.taints ?? []).every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, pod))
}

/** Whether the scheduler puts the pod on a node in spite of its cordon: that is so where it tolerates the taint that comes with one. */
export function toleratesCordon(pod: Pod): boolean {
  return isTolerated({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }, pod)
}

function isTolerated(taint: Taint, { spec }: Pod): boolean {
  return (spec.tolerations ?? []).some(
    ({ key, operator, effect, value }) =>
      (effect === undefined || effect === '' || effect === taint.effect) &&
      (operator === 'Exists'
        ? key === undefined || key === '' || key === taint.key
        : key === taint.key && (value ?? '') === (taint.value ?? '')),
  )
}
