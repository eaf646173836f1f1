// Follows one update to its end and shows each state on the way.

import { type DirectUpdate, directUpdates } from '../api/direct-update.ts'
import { type KubeObject, type Node, nodes, type ResourceType } from '../api/kube.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { CancelTimer, Clock } from '../ports/clock.ts'
import type { KubeApi, Selection } from '../ports/kube-api.ts'
import { asSlipwayError } from './exit-code.ts'
import { followCollection } from './follow-collection.ts'
import { selectorText } from './label-selector.ts'
import type { ProgressSink, RolloutSnapshot } from './progress/sink.ts'
import { listAll, readPolicy } from './read-cluster.ts'
import { isEnded } from './update-outcome.ts'

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
  const { api, clock, sink, update } = options
  const follower = new AbortController()
  const seen: Partial<Seen> = {}
  let troubled = false
  let gather: CancelTimer | undefined

  const ended = Promise.withResolvers<Followed>()
  const look = () => {
    gather = undefined
    const snapshot = snapshotOf(seen, update, clock)
    if (!snapshot) return
    const deleted = seen.updates?.get(update.metadata.name) === undefined
    sink.show(snapshot)
    if (deleted || isEnded(snapshot.update)) ended.resolve({ snapshot, deleted })
  }
  const changed = () => {
    gather ??= clock.after(gatherMs, look)
  }
  const onTrouble = (error: unknown) => {
    if (troubled === (error !== undefined)) return
    troubled = error !== undefined
    sink.note(clock.now(), troubled ? `${asSlipwayError(error).message}; trying again` : 'the API server answers again')
  }
  const follow = <T extends KubeObject>(
    type: ResourceType<T>,
    selection: Selection,
    keep: (objects: ReadonlyMap<string, T>) => void,
  ) =>
    followCollection(
      {
        api,
        clock,
        type,
        selection,
        onTrouble,
        onChange: (objects) => {
          keep(objects)
          changed()
        },
      },
      follower.signal,
    )

  const onAbort = () => ended.reject(new SlipwayError('Stopped', 'stopped'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const following = Promise.all([
    follow(
      directUpdates,
      { fieldSelector: `metadata.name=${update.metadata.name}` },
      (found) => (seen.updates = found),
    ),
    follow(nodes, nodeSelection(update), (found) => (seen.nodes = found)),
    follow(nodeStates, {}, (found) => (seen.nodeStates = found)),
    follow(maintenancePolicies, { fieldSelector: `metadata.name=${policyName}` }, (found) => (seen.policies = found)),
  ])
  following.catch(ended.reject)
  try {
    const last = await ended.promise
    if (last.deleted) return last
    // The streams are not in step with each other: what the nodes came to is read once more.
    const snapshot = await readSnapshot(api, last.snapshot.update, clock, signal)
    sink.show(snapshot)
    return { snapshot, deleted: false }
  } finally {
    signal.removeEventListener('abort', onAbort)
    gather?.()
    follower.abort()
    sink.end()
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

export function nodeSelection(update: Pick<DirectUpdate, 'spec'>): Selection {
  const labelSelector = selectorText(update.spec.nodeSelector)
  return labelSelector === '' ? {} : { labelSelector }
}

interface Seen {
  updates: ReadonlyMap<string, DirectUpdate>
  nodes: ReadonlyMap<string, Node>
  nodeStates: ReadonlyMap<string, NodeState>
  policies: ReadonlyMap<string, MaintenancePolicy>
}

function snapshotOf(seen: Partial<Seen>, fallback: DirectUpdate, clock: Clock): RolloutSnapshot | undefined {
  if (!seen.updates || !seen.nodes || !seen.nodeStates || !seen.policies) return undefined
  return {
    now: clock.now(),
    update: seen.updates.get(fallback.metadata.name) ?? fallback,
    nodes: [...seen.nodes.values()],
    nodeStates: [...seen.nodeStates.values()],
    policy: seen.policies.get(policyName),
  }
}
