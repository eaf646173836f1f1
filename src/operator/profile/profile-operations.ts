// Roll-outs of profiles as operations: for each profile one for what disturbs nobody, and one for what needs a drain.

import type { NodeProfile } from '../../api/node-profile.ts'
import type { Reason } from '../../api/reason.ts'
import type { ProfileWave } from '../../api/strategy.ts'
import type { Work } from '../../api/work.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { gatesOf } from '../../core/gates/gate.ts'
import { contradiction } from '../../core/profile/contradiction.ts'
import { profileOwner, profilePrefix, profileRunOf } from '../../core/profile/operation-id.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { ServerVersion } from '../server-version.ts'
import type { OperationSource } from '../update/operation-source.ts'
import type { Operations } from '../update/operations.ts'
import { RunningOperation, type Slots } from '../update/running-operation.ts'
import type { ProfileBook } from './profile-book.ts'
import { waveGates } from './wave-gates.ts'

export interface ProfileOperationsOptions {
  readonly cluster: Cluster
  readonly slots: Slots
  readonly operations: Operations
  readonly book: ProfileBook
  readonly serverVersion: ServerVersion
  readonly ownNode: string | undefined
  readonly checkpoints: Checkpoints
  readonly clock: Clock
}

const nodeTimeout = '30m'

export class ProfileOperations implements OperationSource {
  readonly prefix = profilePrefix
  readonly #options: ProfileOperationsOptions
  /** Which nodes each of them was last told to take. */
  readonly #taken = new Map<string, string>()

  constructor(options: ProfileOperationsOptions) {
    this.#options = options
  }

  operation(id: string): Operation | undefined {
    const run = profileRunOf(id)
    if (!run || this.#options.book.revision(run.profile) !== run.revision) return undefined
    return operationFor(id, run.profile, run.drain, this.#options.cluster)
  }

  workFor(operation: Operation, node: string): Work | undefined {
    return this.#options.book.workFor(node, operation.disruption)
  }

  /** The id under which the profile is rolled out now, where it is. */
  idOf(profile: string): string | undefined {
    const { operations } = this.#options
    const [calm, drain] = [operations.get(profileOwner(profile, false)), operations.get(profileOwner(profile, true))]
    return drain?.id ?? calm?.id
  }

  /** The waves its roll-outs are in, as they are to be recorded, and when to look again. */
  waves(profile: string, now: Date): { readonly waves: readonly ProfileWave[]; readonly untilMs: number | undefined } {
    const steps = [false, true].flatMap((drain) => {
      const running = this.#options.operations.get(profileOwner(profile, drain))
      const step = running?.wave(now)
      return running && step ? [{ operationID: running.id, step }] : []
    })
    const instants = steps.flatMap(({ step }) => step.untilMs ?? [])
    return {
      waves: steps.map(({ operationID, step }) => ({ operationID, ...step.status })),
      untilMs: instants.length > 0 ? Math.min(...instants) : undefined,
    }
  }

  /** Why none of its nodes is under work though some wait. */
  waitingFor(profile: string, now: Date): Reason | undefined {
    const running = [true, false].flatMap((drain) => this.#options.operations.get(profileOwner(profile, drain)) ?? [])
    if (running.some(({ table }) => table.counts.working > 0)) return undefined
    return running.map((operation) => operation.progress(now).waitingFor).find((reason) => reason !== undefined)
  }

  /** Makes the running operations those that the book asks for. True when there is anything new to grant. */
  follow(now: Date): boolean {
    const { book, operations } = this.#options
    const wanted = new Map<string, { readonly profile: string; readonly drain: boolean; readonly nodes: Set<string> }>()
    for (const [node, { move }] of book.entries) {
      if (move.move !== 'apply' || this.#hasJustApplied(node)) continue
      const drain = move.level !== 'None'
      const owner = profileOwner(move.profile, drain)
      const group = wanted.get(owner) ?? { profile: move.profile, drain, nodes: new Set() }
      group.nodes.add(node)
      wanted.set(owner, group)
    }
    let isNew = false
    for (const [owner, { profile, drain, nodes }] of wanted) {
      const id = this.#idFor(profile, owner, nodes)
      const key = this.#keyOf(id, profile, nodes)
      if (this.#taken.get(owner) === key) continue
      this.#taken.set(owner, key)
      operations.add(this.#run(id, profile, drain, nodes, now))
      isNew = true
    }
    for (const owner of [...this.#taken.keys()]) {
      if (wanted.has(owner)) continue
      this.#taken.delete(owner)
      operations.remove(owner, false)
    }
    return isNew
  }

  /** Another one asks for the roll-out to be made anew. Its gates and its drain are the policy's. */
  #keyOf(id: string, profile: string, nodes: ReadonlySet<string>): string {
    const { profiles, policy } = this.#options.cluster
    const resource = profiles.get(profile)
    // One that is replaced by deleting it first begins to count again.
    const versions = [resource?.metadata.generation, policy?.metadata.uid, policy?.metadata.generation]
    return [id, ...[...nodes].sort(), ...versions, JSON.stringify(waveOf(resource, id))].join(' ')
  }

  /** The node was told to apply this very state and said that it did: what it has applied is about to be reported. */
  #hasJustApplied(node: string): boolean {
    const state = this.#options.cluster.states.get(node)
    const order = state?.spec.order
    const wanted = this.#options.book.entries.get(node)?.want?.sha256
    if (order?.desired !== 'Run' || order.work.profile?.desired.sha256 !== wanted) return false
    const { order: report, profile } = state?.status?.agent ?? {}
    if (report?.id !== order.id || report.state !== 'Succeeded') return false
    // The agent may remember an order of this name from before it was told something else.
    return !(profile?.appliedAt && report.finishedAt && profile.appliedAt > report.finishedAt)
  }

  /** Changed while an update runs: what that one does would be undone behind its back. It is finished first. */
  #contradicted(node: string): Reason | undefined {
    const { operations, book, cluster } = this.#options
    const { profiles = [] } = book.entries.get(node) ?? {}
    const itself = cluster.nodes.get(node)
    for (const { operation, table } of operations.running()) {
      if (operation.kind !== undefined || table.standing(node) === undefined) continue
      const reason = contradiction(operation.update, operation.work, profiles, itself ? [itself] : [])
      if (reason) return reason
    }
    return undefined
  }

  /** A node that came and went takes its turn again under another id. Nodes that are still to come keep the one there is. */
  #idFor(profile: string, owner: string, nodes: ReadonlySet<string>): string {
    const { cluster, operations, book } = this.#options
    const stem = `${owner}/${book.revision(profile)}-`
    const done = new Set(
      [...nodes].flatMap((node) => {
        const { rollout, completed = [] } = cluster.states.get(node)?.status ?? {}
        return [...(rollout?.phase === 'Done' ? [rollout.operationID] : []), ...completed]
      }),
    )
    const told = cluster.profiles.get(profile)?.status?.waves?.map(({ operationID }) => operationID) ?? []
    const present = [operations.get(owner)?.id, ...told].find((id) => id?.startsWith(stem) && !done.has(id))
    if (present !== undefined) return present
    const turns = [...done].filter((id) => id.startsWith(stem)).map((id) => Number(id.slice(stem.length)))
    return `${stem}${Math.max(0, ...turns) + 1}`
  }

  #run(id: string, profile: string, drain: boolean, nodes: ReadonlySet<string>, now: Date): RunningOperation {
    const { cluster, slots, serverVersion, ownNode, book, checkpoints, clock } = this.#options
    const resource = cluster.profiles.get(profile)
    const operation = operationFor(id, profile, drain, cluster)
    return new RunningOperation({
      ...{ cluster, slots, serverVersion, ownNode, operation },
      terms: {
        isMember: ({ metadata }) => nodes.has(metadata.name),
        takesNewNodes: true,
        isDone: () => false,
        workFor: (node) => book.workFor(node, operation.disruption) ?? operation.work,
        obstacle: (node) => this.#contradicted(node),
        strategy: resource?.spec.strategy,
        wave: waveOf(resource, id),
        checks: waveGates({
          checkpoints,
          clock,
          soakUntil: () => waveOf(cluster.profiles.get(profile), id)?.soakUntil,
        }),
        generation: resource?.metadata.generation,
      },
      startedAt: now,
    })
  }
}

function waveOf(profile: NodeProfile | undefined, id: string): ProfileWave | undefined {
  return profile?.status?.waves?.find(({ operationID }) => operationID === id)
}

function operationFor(id: string, update: string, drain: boolean, { policy, profiles }: Cluster): Operation {
  const retry = profiles.get(update)?.spec.retry
  return {
    id,
    kind: 'NodeProfile',
    update,
    // What is asked of a node is computed for that node; there is nothing that could be asked of all of them.
    work: {},
    disruption: drain ? 'Drain' : 'None',
    rollback: 'Never',
    nodeTimeout,
    drain: drainOf(policy?.spec.drain),
    // What disturbs nobody needs nobody's leave.
    gates: drain ? gatesOf(policy?.spec.gates) : [],
    ...(retry && { retry }),
  }
}
