// What the gates of Kubernetes objects say: nodes, pods, Jobs.

import type { Job, Node, Pod } from '../../api/kube.ts'
import { isReady } from '../node/node-facts.ts'
import type { Look } from './gate.ts'

/** Nodes under work by us are away on purpose: only the others count. */
export function judgeNodes(nodes: Iterable<Node>, isUnderWork: (node: string) => boolean): Look {
  const away: string[] = []
  let isAny = false
  for (const node of nodes) {
    isAny = true
    if (!isReady(node) && !isUnderWork(node.metadata.name)) away.push(node.metadata.name)
  }
  // A selector that is mistyped, or a label that is gone: nothing is known of the nodes that were meant.
  if (!isAny) return { state: 'unknown', message: 'the selector matches no node' }
  return away.length === 0
    ? { state: 'holds' }
    : { state: 'fails', message: `${some(away)} ${away.length === 1 ? 'is' : 'are'} not Ready` }
}

export function judgePods(pods: Iterable<Pod>, atLeast: number): Look {
  const names: string[] = []
  const unready: string[] = []
  for (const pod of pods) {
    const { name, namespace = '', deletionTimestamp } = pod.metadata
    // What has ended, or is on its way out, is replaced or was meant to end.
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || deletionTimestamp !== undefined) continue
    names.push(name)
    const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    if (!ready) unready.push(`${namespace}/${name}`)
  }
  if (unready.length > 0) {
    return { state: 'fails', message: `${some(unready.sort())} ${unready.length === 1 ? 'is' : 'are'} not Ready` }
  }
  if (names.length >= atLeast) return { state: 'holds' }
  return { state: 'fails', message: `${names.length} pod(s) are there, at least ${atLeast} must be` }
}

/** Undefined while it runs. */
export function judgeJob({ metadata, status }: Job): Look | undefined {
  const ended = (type: string) => status?.conditions?.find((entry) => entry.type === type && entry.status === 'True')
  if (ended('Complete')) return { state: 'holds' }
  const failed = ended('Failed')
  if (!failed) return undefined
  const why = [failed.reason, failed.message].filter((text) => text !== undefined && text !== '').join(': ')
  const name = `${metadata.namespace ?? ''}/${metadata.name}`
  return { state: 'broken', message: `Job ${name} failed${why === '' ? '' : ` (${why})`}; look at its pod's log` }
}

export function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown
}
