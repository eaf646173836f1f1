// What a Node shows of its maintenance: Kustodian's two annotations, and by option a taint that keeps new pods off while it waits.

import type { Node } from '../../api/kube.ts'

export const inProgressAnnotation = 'k8s.io/maintenance-in-progress'
export const neededAnnotation = 'k8s.io/most-recent-maintenance-needed'
export const waitingTaint = 'slipway.dev/maintenance-waiting'

/** Null takes an annotation away. */
export type AnnotationChange = Readonly<Record<string, string | null>>

export type TaintChange =
  | { readonly taint: 'add'; readonly first: boolean }
  | { readonly taint: 'remove'; readonly index: number }

/** `needed`: since when maintenance is asked for or under way; the last time it was needed stays to be seen. */
export function annotationChange({ metadata }: Node, needed: string | undefined): AnnotationChange | undefined {
  const isMarked = metadata.annotations?.[inProgressAnnotation] !== undefined
  if (isMarked === (needed !== undefined)) return undefined
  return needed === undefined
    ? { [inProgressAnnotation]: null }
    : { [inProgressAnnotation]: needed, [neededAnnotation]: needed }
}

export function taintChange({ spec }: Node, waits: boolean): TaintChange | undefined {
  const taints = spec.taints ?? []
  const index = taints.findIndex(({ key }) => key === waitingTaint)
  if (index >= 0 === waits) return undefined
  return waits ? { taint: 'add', first: taints.length === 0 } : { taint: 'remove', index }
}
