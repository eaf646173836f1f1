// When Slipway leaves a cluster nothing of it stays on a Node: neither cordon, mark, annotation, label nor taint. A person's
// cordon, and one that a person asked us to keep, stays, and is an ordinary one from then on. Where Slipway is to come back to what it
// leaves, so does what people said on the node: their holds, and labels of ours, which only they write.

import { holdAnnotation } from '../../api/hold.ts'
import { housekeeperLabels, housekeeperMark } from '../../api/housekeeper.ts'
import type { Node, Taint } from '../../api/kube.ts'
import { inProgressAnnotation, neededAnnotation } from '../maintenance/node-marks.ts'
import { isMarked, puttingBackChange } from './node-marks.ts'

const prefix = 'slipway.dev/'
/** In the words of other systems, written by us for their users. */
const inOthersWords = [inProgressAnnotation, neededAnnotation]

export interface LastChange {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string | null>>
    readonly labels?: Readonly<Record<string, string | null>>
  }
  readonly spec?: { readonly unschedulable?: true | null; readonly taints?: readonly Taint[] | null }
}

/** What has to be written on the node; undefined for nothing. `comesBack`: what people said there is for the next time. */
export function lastChange(node: Node, comesBack = false): LastChange | undefined {
  const { annotations = {}, labels = {} } = node.metadata
  const { taints = [] } = node.spec
  const keptTaints = taints.filter(({ key }) => !key.startsWith(prefix))
  const back = isMarked(node) ? puttingBackChange(node) : undefined
  const forHousekeeper = annotations[housekeeperMark] === undefined ? [] : Object.values(housekeeperLabels)
  const isOurs = (key: string) => key.startsWith(prefix) && !(comesBack && key === holdAnnotation)
  const annotationsTaken = taken(annotations, (key) => isOurs(key) || inOthersWords.includes(key))
  const labelsTaken = taken(
    labels,
    (key) => (key.startsWith(prefix) && !comesBack) || forHousekeeper.some((label) => label === key),
  )
  const allAnnotations = { ...back?.metadata.annotations, ...annotationsTaken }
  const allLabels = { ...back?.metadata.labels, ...labelsTaken }
  const spec = {
    ...back?.spec,
    ...(keptTaints.length < taints.length && { taints: keptTaints.length > 0 ? keptTaints : null }),
  }
  const isClean = [allAnnotations, allLabels, spec].every((part) => Object.keys(part).length === 0)
  if (isClean) return undefined
  return {
    metadata: { annotations: allAnnotations, labels: allLabels },
    ...(Object.keys(spec).length > 0 && { spec }),
  }
}

function taken(
  entries: Readonly<Record<string, string>>,
  isToGo: (key: string) => boolean,
): Readonly<Record<string, null>> {
  return Object.fromEntries(
    Object.keys(entries)
      .filter(isToGo)
      .map((key) => [key, null]),
  )
}
