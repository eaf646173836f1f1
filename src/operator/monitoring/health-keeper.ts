// Keeps the conditions of the policy that tell how the cluster is. Written when one of them changes, not when a name does.

import { isKubeError } from '../../api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { type HealthView, isSameHealth, judgeHealth } from '../../core/monitoring/health.ts'
import { isReady } from '../../core/node/node-facts.ts'
import { mergeConditions } from '../../core/update/progress.ts'
import type { Reconcile } from '../../kube/controller.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'

const pass = 'pass'
/** What passes sooner is no news: nodes restart, leaders change. */
const settleMs = 30_000
/** Certificates and backups grow old by themselves. */
const lookAgainMs = 10 * 60_000

export class HealthKeeper {
  readonly queue: WorkQueue
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #book: LedgerBook

  constructor(ports: OperatorPorts, cluster: Cluster, book: LedgerBook) {
    this.#ports = ports
    this.#cluster = cluster
    this.#book = book
    this.queue = new WorkQueue({ clock: ports.clock, random: ports.random, baseMs: 1_000, maxMs: 60_000 })
  }

  follow(): void {
    const { nodes, states, policies } = this.#cluster
    nodes.subscribe((change) => {
      if (change.type !== 'changed' || isReady(change.before) !== isReady(change.object)) this.#wake()
    })
    states.subscribe((change) => {
      if (!this.#cluster.controlPlane.has(change.key)) return
      const was = change.type === 'changed' ? change.before.status?.agent : undefined
      const is = change.object.status?.agent
      const isNews =
        was?.controlPlane?.apiServer?.ready !== is?.controlPlane?.apiServer?.ready ||
        was?.facts.certificatesExpireAt !== is?.facts.certificatesExpireAt
      if (isNews) this.#wake()
    })
    policies.subscribe((change) => {
      if (change.type !== 'changed' || newest(change.before) !== newest(change.object)) this.#wake()
    })
    this.#wake()
  }

  readonly reconcile: Reconcile = async (_key, signal) => {
    const { writablePolicy: policy } = this.#cluster
    const now = this.#ports.clock.now()
    const judged = judgeHealth(this.#view(now))
    const known = policy?.status?.conditions ?? []
    if (!policy || isSameHealth(known, judged)) return { afterMs: lookAgainMs }
    const { uid, resourceVersion } = policy.metadata
    const conditions = mergeConditions(known, judged, now.toISOString(), undefined)
    const patch = { type: 'merge', body: { metadata: { uid, resourceVersion }, status: { conditions } } } as const
    try {
      const written = await this.#ports.api.patch(maintenancePolicies, { name: policyName }, patch, signal, 'status')
      this.#cluster.policies.learn(written)
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
      return { afterMs: settleMs }
    }
    for (const { type, status, reason: code, message } of judged) {
      if (known.find((condition) => condition.type === type)?.status === status) continue
      this.#ports.log.info('health changed', { condition: type, status, code, message })
    }
    return { afterMs: lookAgainMs }
  }

  #view(now: Date): HealthView {
    const { controlPlane, nodes, states, policy } = this.#cluster
    const isFree = (name: string) => this.#book.grantOf(name) === undefined
    const hosts = [...controlPlane].sort()
    return {
      now,
      apiServers: hosts.filter(isFree).map((node) => ({
        node,
        ready: states.get(node)?.status?.agent?.controlPlane?.apiServer?.ready,
      })),
      notReady: [...nodes.values()]
        .filter((node) => !isReady(node) && isFree(node.metadata.name))
        .map(({ metadata }) => metadata.name)
        .sort(),
      certificates: hosts.flatMap((node) => {
        const expireAt = states.get(node)?.status?.agent?.facts.certificatesExpireAt
        return expireAt === undefined ? [] : [{ node, expireAt }]
      }),
      stores: policy?.spec.backupStores ?? [],
      records: policy?.status?.backups ?? [],
    }
  }

  #wake(): void {
    this.queue.addAfter(pass, settleMs)
  }
}

/** What of the policy bears on it: its backups and their schedules. */
function newest({ spec, status }: NonNullable<Cluster['policy']>): string {
  return JSON.stringify([
    spec.backupStores?.map(({ name, schedule }) => [name, schedule]),
    status?.backups?.map(({ store, lastSuccess, lastFailure }) => [store, lastSuccess?.at, lastFailure?.at]),
  ])
}
