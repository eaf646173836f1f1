// What we put on a Node while it is under work: the cordon, and marks that tell others to leave it alone. Only what is ours is
// taken off again: the cordon that carries our annotation, and the marks that our list names.

import { holdAnnotation, holdSchema, releasedAnnotation } from '../../api/hold.ts'
import type { Node } from '../../api/kube.ts'
import { cordonAnnotation, cordonOwner, isCordoned, keptForPerson } from './node-facts.ts'

/** The marks that were not there before us, by their keys, joined by commas. */
export const marksAnnotation = 'slipway.dev/marks'

const quietAnnotations = [
  'cluster-autoscaler.kubernetes.io/scale-down-disabled',
  'karpenter.sh/do-not-disrupt',
] as const
const offLoadBalancers = 'node.kubernetes.io/exclude-from-external-load-balancers'

/** The annotations of a Node that are read here. */
export const markAnnotations: readonly string[] = [
  ...[marksAnnotation, holdAnnotation, releasedAnnotation],
  ...quietAnnotations,
]

export interface NodeChange {
  readonly metadata: {
    readonly annotations: Readonly<Record<string, string | null>>
    readonly labels?: Readonly<Record<string, string | null>>
  }
  readonly spec?: { readonly unschedulable: true | null }
}

/** Whether anything of ours is on the node. */
export function isMarked(node: Node): boolean {
  return cordonOwner(node) !== undefined || node.metadata.annotations?.[marksAnnotation] !== undefined
}

/** Whether the node is cordoned and marked for this operation. A person's cordon is good enough, and stays theirs. */
export function isTaken(node: Node, holder: string): boolean {
  const owner = cordonOwner(node)
  const isMine = owner === undefined || owner === holder
  return isCordoned(node) && isMine && node.metadata.annotations?.[marksAnnotation] !== undefined
}

/** Whether nothing of ours is left, besides a cordon that a person asked us to leave. */
export function isPutBack(node: Node): boolean {
  if (node.metadata.annotations?.[releasedAnnotation] !== undefined) return false
  if (!isMarked(node)) return true
  return isKept(node) && node.metadata.annotations?.[marksAnnotation] === undefined
}

function isKept(node: Node): boolean {
  return cordonOwner(node) === keptForPerson && holdOf(node) !== undefined
}

/** One write: a cordon of ours is never without its mark. */
export function takingChange(node: Node, holder: string, leaveLoadBalancers: boolean): NodeChange {
  const { annotations = {}, labels = {} } = node.metadata
  const isPersons = isCordoned(node) && cordonOwner(node) === undefined
  const own = isPersons ? {} : { [cordonAnnotation]: holder }
  const cordon = isPersons ? {} : { spec: { unschedulable: true as const } }
  if (annotations[marksAnnotation] !== undefined) return { metadata: { annotations: own }, ...cordon }
  const quiet = quietAnnotations.filter((key) => annotations[key] === undefined)
  const leaves = leaveLoadBalancers && labels[offLoadBalancers] === undefined
  const marks = [...quiet, ...(leaves ? [offLoadBalancers] : [])]
  return {
    metadata: {
      annotations: { ...own, ...valueForAll(quiet, 'true'), [marksAnnotation]: marks.join(',') },
      ...(leaves && { labels: { [offLoadBalancers]: '' } }),
    },
    ...cordon,
  }
}

export function puttingBackChange(node: Node): NodeChange {
  const marks = (node.metadata.annotations?.[marksAnnotation] ?? '').split(',')
  const quiet = quietAnnotations.filter((key) => marks.includes(key))
  const isOurs = cordonOwner(node) !== undefined
  const isHeld = holdOf(node) !== undefined && isCordoned(node)
  return {
    metadata: {
      annotations: {
        ...(isOurs && { [cordonAnnotation]: isHeld ? keptForPerson : null }),
        ...valueForAll(quiet, null),
        [marksAnnotation]: null,
        ...(node.metadata.annotations?.[releasedAnnotation] !== undefined && { [releasedAnnotation]: null }),
      },
      ...(marks.includes(offLoadBalancers) && { labels: { [offLoadBalancers]: null } }),
    },
    ...(isOurs && !isHeld && { spec: { unschedulable: null } }),
  }
}

/** What a person who keeps the node says, in a few words; undefined where nobody does. */
export function holdOf({ metadata }: Node): string | undefined {
  const text = metadata.annotations?.[holdAnnotation]
  if (text === undefined) return undefined
  const parsed = holdSchema.safeParse(json(text))
  if (!parsed.success) return text.slice(0, 200) || 'nobody says why'
  const { by = 'somebody', why, at } = parsed.data
  return `${by}${at === undefined ? '' : ` since ${at}`}${why === undefined ? '' : `: ${why}`}`
}

function valueForAll<T>(keys: readonly string[], value: T): Readonly<Record<string, T>> {
  return Object.fromEntries(keys.map((key) => [key, value]))
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
