// Follows one update to its end and shows each state on the way.

import { type DirectUpdate, directUpdates } from '../api/direct-update.ts'
import { type KubeObject, type Node, nodes, type ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { asSlipwayError } from '../core/failure.ts'
import { selectorText } from '../core/label-selector.ts'
import { isEnded } from '../core/update/outcome.ts'
import type { CancelTimer, Clock } from '../ports/clock.ts'
import type { KubeApi, Selection } from '../ports/kube-api.ts'
import { followCollection } from './follow-collection.ts'
import type { ProgressSink, RolloutSnapshot } from './progress/sink.ts'
import { listAll, readPolicy } from './read-cluster.ts'

/** Changes that arrive together are shown together. */
const gatherMs = 50

export interface FollowOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly sink: ProgressSink
  readonly update: DirectUpdate
}

/** The last state; `deleted` where somebody removed the update before its end. */
export interface Followed {
  readonly snapshot: RolloutSnapshot
  readonly deleted: boolean
}

/** Resolves at the update's end; rejects with Stopped when aborted before it, and when the API stays away for long. */
export async function followUpdate(options: FollowOptions, signal: AbortSignal): Promise<Followed> {
  const { api, clock, sink } = options
  const stop = new AbortController()
  const ended = Promise.withResolvers<Followed>()
  const seen: Partial<Seen> = {}
  let gather: CancelTimer | undefined
  const look = () => {
    gather = undefined
    const followed = followedOf(seen, options)
    if (!followed) return
    sink.show(followed.snapshot)
    if (followed.deleted || isEnded(followed.snapshot.update)) ended.resolve(followed)
  }
  const onChange = () => {
    gather ??= clock.after(gatherMs, look)
  }
  const onAbort = () => ended.reject(new SlipwayError('Stopped', 'stopped'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  followAll(options, seen, onChange, stop.signal).catch(ended.reject)
  try {
    const last = await ended.promise
    if (last.deleted) return last
    const snapshot = await readLast(api, last.snapshot, clock, signal)
    sink.show(snapshot)
    return { snapshot, deleted: false }
  } finally {
    signal.removeEventListener('abort', onAbort)
    gather?.()
    stop.abort()
    sink.end()
  }
}

/** Keeps `seen` in step with the API until aborted. */
async function followAll(
  { api, clock, sink, update }: FollowOptions,
  seen: Partial<Seen>,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  let troubled = false
  const onTrouble = (error: unknown) => {
    if (troubled === (error !== undefined)) return
    troubled = error !== undefined
    sink.note(clock.now(), troubled ? `${asSlipwayError(error).message}; trying again` : 'the API server answers again')
  }
  const follow = <T extends KubeObject>(
    type: ResourceType<T>,
    selection: Selection,
    keep: (objects: ReadonlyMap<string, T>) => Partial<Seen>,
  ) => {
    const changed = (objects: ReadonlyMap<string, T>) => {
      Object.assign(seen, keep(objects))
      onChange()
    }
    return followCollection({ api, clock, type, selection, onTrouble, onChange: changed }, signal)
  }
  const byName = (name: string) => ({ fieldSelector: `metadata.name=${name}` })
  await Promise.all([
    follow(directUpdates, byName(update.metadata.name), (updates) => ({ updates })),
    follow(nodes, nodeSelection(update), (found) => ({ nodes: found })),
    follow(nodeStates, {}, (states) => ({ nodeStates: states })),
    follow(maintenancePolicies, byName(policyName), (policies) => ({ policies })),
  ])
}

/** The streams are not in step with each other: what the nodes came to is read once more. The end is known without it. */
async function readLast(
  api: KubeApi,
  seen: RolloutSnapshot,
  clock: Clock,
  signal: AbortSignal,
): Promise<RolloutSnapshot> {
  try {
    return await readSnapshot(api, seen.update, clock, signal)
  } catch (error) {
    if (signal.aborted || !isKubeError(error)) throw error
    return seen
  }
}

/** All there is to say about one update, read once. */
export async function readSnapshot(
  api: KubeApi,
  update: DirectUpdate,
  clock: Clock,
  signal: AbortSignal,
): Promise<RolloutSnapshot> {
  const [selected, states, policy] = await Promise.all([
    listAll(api, nodes, nodeSelection(update), signal),
    listAll(api, nodeStates, {}, signal),
    readPolicy(api, signal),
  ])
  return { now: clock.now(), update, nodes: selected.items, nodeStates: states.items, policy }
}

function nodeSelection(update: Pick<DirectUpdate, 'spec'>): Selection {
  const labelSelector = selectorText(update.spec.nodeSelector)
  return labelSelector === '' ? {} : { labelSelector }
}

interface Seen {
  updates: ReadonlyMap<string, DirectUpdate>
  nodes: ReadonlyMap<string, Node>
  nodeStates: ReadonlyMap<string, NodeState>
  policies: ReadonlyMap<string, MaintenancePolicy>
}

/** Undefined until everything was seen once. */
function followedOf(seen: Partial<Seen>, { update, clock }: FollowOptions): Followed | undefined {
  if (!seen.updates || !seen.nodes || !seen.nodeStates || !seen.policies) return undefined
  const named = seen.updates.get(update.metadata.name)
  // One that was made anew under the name is another.
  const found = named?.metadata.uid === update.metadata.uid ? named : undefined
  const snapshot = {
    now: clock.now(),
    update: found ?? update,
    nodes: [...seen.nodes.values()],
    nodeStates: [...seen.nodeStates.values()],
    policy: seen.policies.get(policyName),
  }
  return { snapshot, deleted: found === undefined }
}
