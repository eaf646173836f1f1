// What CUPCAKE's users see of an operation besides its resource: marks on the nodes, and its series of metrics. It follows every
// DirectUpdate of ours that one of its resources asked for, also by way of a schedule.

import { namedAtMost } from '../../api/console.ts'
import { cupcakeDirectUpdates, cupcakeNodeMarks } from '../../api/cupcake.ts'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { type KubeObject, type Node, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { NodeState } from '../../api/node-state.ts'
import { scheduledUpdates, updateSchedules } from '../../api/schedule.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { stillAsked } from '../../core/steering/still-asked.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import { isOfRun } from '../../core/update/path-step.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorMetrics } from '../operator-metrics.ts'
import type { OperatorPorts } from '../ports.ts'
import { repliesOf } from './cupcake-backup.ts'
import type { CupcakeBackups } from './cupcake-backups.ts'
import { cupcakeOperationID, cupcakePhaseOf } from './cupcake-direct-status.ts'
import { isTriedAgain, type Marks, markChange, markedStatus, marksOf, staleMarks } from './cupcake-marks.ts'

interface Followed {
  readonly id: string
  /** Steps that were counted, by node. */
  readonly steps: Set<string>
}

export class CupcakeOperations {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #metrics: OperatorMetrics | undefined
  readonly #backups: CupcakeBackups
  readonly #followed = new Map<string, Followed>()
  /** Where `failed` was seen on the node: from then on `pending` is a person's wish. */
  readonly #failed = new Set<string>()

  constructor(ports: OperatorPorts, cluster: Cluster, metrics: OperatorMetrics | undefined, backups: CupcakeBackups) {
    this.#backups = backups
    this.#ports = ports
    this.#cluster = cluster
    this.#metrics = metrics
  }

  isTheirs({ metadata }: KubeObject): boolean {
    return (metadata.ownerReferences ?? []).some(({ apiVersion, kind, name }) => {
      if (apiVersion === cupcakeDirectUpdates.apiVersion) return true
      if (apiVersion !== directUpdates.apiVersion) return false
      const owner =
        kind === scheduledUpdates.kind
          ? this.#cluster.scheduledUpdates.get(name)
          : kind === updateSchedules.kind
            ? this.#cluster.updateSchedules.get(name)
            : undefined
      return owner?.metadata.ownerReferences?.some((theirs) => theirs.apiVersion === cupcakeDirectUpdates.apiVersion)
    })
  }

  async follow(name: string, signal: AbortSignal): Promise<void> {
    const update = this.#cluster.updates.get(name)
    const { operationID } = update?.status ?? {}
    if (!update || operationID === undefined) {
      this.#forget(name, 'Cancelled')
      return
    }
    const id = cupcakeOperationID(operationID)
    if (this.#followed.get(name)?.id !== id) this.#forget(name, 'Cancelled')
    // What ended before this leader came was counted by another.
    const isCounted = !isEndedPhase(update.status?.phase) || this.#followed.has(name)
    const retried: string[] = []
    for (const state of this.#cluster.states.values()) {
      if (!isOfRun(state.status?.rollout?.operationID ?? '', operationID)) continue
      const node = this.#cluster.nodes.get(state.metadata.name)
      if (!node) continue
      if (isCounted) this.#countSteps(name, id, state)
      if (this.#isWished(update, node, state)) retried.push(node.metadata.name)
      else await this.#mark(node, marksOf(update, node, state), signal)
    }
    if (retried.length > 0) await this.#tryAgain(update, retried, signal)
    if (isCounted) this.#count(update, id)
    const { apiVersion, kind } = directUpdates
    const owner = { apiVersion, kind, name, uid: update.metadata.uid }
    for (const reply of repliesOf(update.status ?? {}, id)) await this.#backups.reply(reply, owner, signal)
  }

  /** Takes off what says that a node waits for an operation that is no more. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (const node of this.#cluster.nodes.values()) {
      if (node.metadata.annotations?.[cupcakeNodeMarks.operation] === undefined) continue
      const rollout = this.#cluster.states.get(node.metadata.name)?.status?.rollout
      const run = rollout && this.#cluster.updates.get(rollout.update)?.status?.operationID
      const isUnderWay = (id: string) =>
        run !== undefined && isOfRun(rollout?.operationID ?? '', run) && cupcakeOperationID(run) === id
      const stale = staleMarks(node, isUnderWay)
      if (stale) await this.#write(node, stale, signal)
    }
  }

  async #mark(node: Node, marks: Marks | undefined, signal: AbortSignal): Promise<void> {
    const change = marks && markChange(node, marks)
    if (change) await this.#write(node, change, signal)
  }

  async #write({ metadata }: Node, annotations: Marks, signal: AbortSignal): Promise<void> {
    const body = { metadata: { uid: metadata.uid, annotations } }
    try {
      await this.#ports.api.patch(nodes, { name: metadata.name }, { type: 'merge', body }, signal)
    } catch (error) {
      // Another machine, or none: whatever it is, these marks are not about it.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
    }
  }

  /** `kubectl annotate node NAME …/status=pending --overwrite`, after it had failed. */
  #isWished(update: DirectUpdate, node: Node, { status }: NodeState): boolean {
    const rollout = status?.rollout
    const key = `${node.metadata.uid}/${rollout?.operationID}/${rollout?.attempt}`
    if (rollout?.phase !== 'Failed') return false
    if (markedStatus(node) === 'failed') this.#failed.add(key)
    return markedStatus(node) === 'pending' && this.#failed.has(key) && !isTriedAgain(update, rollout, node)
  }

  async #tryAgain(update: DirectUpdate, names: readonly string[], signal: AbortSignal): Promise<void> {
    const { name, uid, resourceVersion } = update.metadata
    const { retry, skip = [] } = update.spec
    const isOurs = (id: string) => isOfRun(id, update.status?.operationID ?? '')
    const asked = stillAsked({ retry, skip: new Set(skip), isOurs }, [...this.#cluster.states.values()])
    const wanted = [...new Set([...asked, ...names])].slice(0, namedAtMost)
    // Those for whom there is no room yet come when others are taken up; the same names under another token would never end.
    if (wanted.length <= asked.length) return
    const token = fingerprint([retry?.token ?? '', wanted])
    const body = { metadata: { uid, resourceVersion }, spec: { retry: { token, nodes: wanted } } }
    this.#cluster.updates.learn(await this.#ports.api.patch(directUpdates, { name }, { type: 'merge', body }, signal))
  }

  #count(update: DirectUpdate, id: string): void {
    const { name } = update.metadata
    const phase = cupcakePhaseOf(update)
    if (isEndedPhase(update.status?.phase)) {
      this.#forget(name, phase)
      return
    }
    this.#followedOf(name, id)
    const { done = 0, skipped = 0, working = 0, waiting = 0, failed = 0 } = update.status?.summary ?? {}
    const nodes = { pending: waiting, upgrading: working, completed: done + skipped, failed }
    this.#metrics?.upgrade(id, { phase, nodes })
  }

  #countSteps(name: string, id: string, { metadata, status }: NodeState): void {
    const { steps } = this.#followedOf(name, id)
    for (const { name: step, state, startedAt, finishedAt, attempts } of status?.agent?.order?.steps ?? []) {
      const key = `${metadata.name}/${status?.agent?.order?.id}/${step}/${attempts}`
      if (state !== 'Succeeded' || startedAt === undefined || finishedAt === undefined || steps.has(key)) continue
      steps.add(key)
      const seconds = Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000
      this.#metrics?.upgradeStep(id, metadata.name, step, seconds)
    }
  }

  #followedOf(name: string, id: string): Followed {
    const known = this.#followed.get(name)
    if (known?.id === id) return known
    const followed = { id, steps: new Set<string>() }
    this.#followed.set(name, followed)
    return followed
  }

  /** Its series go; what is left is how many ended so. */
  #forget(name: string, phase: string): void {
    const followed = this.#followed.get(name)
    if (!followed) return
    this.#followed.delete(name)
    this.#metrics?.upgrade(followed.id, undefined)
    this.#metrics?.upgradeEnded(phase)
  }
}
