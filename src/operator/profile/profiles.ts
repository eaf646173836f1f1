import type { Order } from '../../api/node-state.ts'
import { profilePrefix } from '../../core/profile/operation-id.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import type { ServerVersion } from '../server-version.ts'
import type { Operations } from '../update/operations.ts'
import type { WakeUps } from '../wake-ups.ts'
import { DesiredShelf } from './desired-shelf.ts'
import { ProfileBook } from './profile-book.ts'
import { makeProfileReconcile } from './profile-controller.ts'
import { ProfileOperations } from './profile-operations.ts'

/** What one term does about NodeProfiles. */
export interface Profiles {
  readonly book: ProfileBook
  readonly reconcile: Reconcile
  /** Puts the desired state an order names where the agent finds it. */
  prepare(order: Order, signal: AbortSignal): Promise<void>
}

export interface ProfilesOptions {
  readonly options: {
    readonly ports: OperatorPorts
    readonly events: EventRecorder
    readonly namespace: string
    readonly version: string
    readonly nodeName: string | undefined
  }
  readonly serverVersion: ServerVersion
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly wakeUps: WakeUps
  readonly checkpoints: Checkpoints
}

/** Looks once before anything is done: an operation must not be taken for gone because nobody has looked at it yet. */
export async function openProfiles(
  { options, serverVersion, cluster, book: slots, operations, wakeUps, checkpoints }: ProfilesOptions,
  signal: AbortSignal,
): Promise<Profiles> {
  const { ports, events, namespace, version, nodeName: ownNode } = options
  const shelf = new DesiredShelf(ports.api, namespace)
  const book = new ProfileBook({ ports, cluster, shelf, namespace, version })
  const source = new ProfileOperations({
    ...{ cluster, slots, operations, book, serverVersion, ownNode, checkpoints },
    clock: ports.clock,
  })
  operations.addSource(source)
  wakeUps.route(profilePrefix, () => wakeUps.profiles())
  await shelf.open(signal)
  await book.look(signal)
  const wakeGrants = () => wakeUps.grants()
  return {
    book,
    reconcile: makeProfileReconcile({ ports, cluster, book, shelf, operations: source, events, wakeGrants }),
    prepare: async ({ work }, until) => {
      if (work.profile) await shelf.ensure(work.profile.desired.sha256, until)
    },
  }
}
