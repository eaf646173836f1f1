// The one object every slot stands on, and the only code that writes it. Each change is a compare-and-swap, so a frozen old
// leader cannot spend what a new one has spent: the new one wrote a higher epoch first.

import { isKubeError } from '../../api/kube-error.ts'
import {
  type Grant,
  type Ledger,
  type MaintenancePolicy,
  maintenancePolicies,
  policyName,
} from '../../api/maintenance-policy.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { acceptanceOf } from '../../core/ledger/acceptance.ts'
import { changeLedger, type LedgerChange, nextEpoch } from '../../core/ledger/book.ts'
import { rollCallStatus } from '../../core/ledger/roll-call.ts'
import { sleep } from '../../kube/sleep.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'

const comesBackMs = 10_000

export class LedgerBook {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  #epoch = 0
  #ledger: Ledger = { epoch: 0, grants: [] }
  #byNode = new Map<string, Grant>()

  constructor(ports: OperatorPorts, cluster: Cluster) {
    this.#ports = ports
    this.#cluster = cluster
  }

  get epoch(): number {
    return this.#epoch
  }

  get grants(): readonly Grant[] {
    return this.#ledger.grants
  }

  grantOf(node: string): Grant | undefined {
    return this.#byNode.get(node)
  }

  holderOf(node: string): string | undefined {
    return this.#byNode.get(node)?.holder
  }

  heldBy(holder: string): number {
    return this.#ledger.grants.reduce((sum, grant) => sum + (grant.holder === holder ? 1 : 0), 0)
  }

  /**
   * A new leader's first write. `atLeast`: the highest epoch any agent has seen, in case the policy was deleted or went back
   * meanwhile. `restored`: the roll call that went before.
   */
  async open(atLeast: number, signal: AbortSignal, restored?: string): Promise<void> {
    // Where nodes are known there was a policy, and it may be on its way back.
    if (this.#cluster.states.size > 0 && !(await this.#find(signal))) await this.#comesBack(signal)
    for (;;) {
      const policy = await this.#fetch(signal)
      const ledger = nextEpoch(policy.status?.ledger)
      const epoch = Math.max(ledger.epoch, atLeast + 1)
      const opened = { ...ledger, epoch, ...(restored !== undefined && { restored }) }
      try {
        this.#accept(await this.#write(policy, opened, signal))
        this.#epoch = opened.epoch
        return
      } catch (error) {
        if (!isKubeError(error, 'Conflict')) throw error
      }
    }
  }

  /**
   * Books what `decide` wants on the ledger as it is now; decides again when somebody wrote meanwhile. Another leader's
   * epoch ends this leader's term.
   */
  async change(
    decide: (ledger: Ledger, policy: MaintenancePolicy) => LedgerChange,
    signal: AbortSignal,
  ): Promise<void> {
    let policy = this.#cluster.writablePolicy
    for (;;) {
      if (policy?.status?.ledger?.epoch !== this.#epoch) policy = await this.#own(signal)
      const ledger: Ledger = policy.status?.ledger ?? this.#ledger
      const changed = changeLedger(ledger, decide(ledger, policy))
      if (changed === ledger && !acceptanceOf(policy, this.#ports.clock.now())) return this.#accept(policy)
      try {
        return this.#accept(await this.#write(policy, changed, signal))
      } catch (error) {
        if (!isKubeError(error, 'Conflict', 'NotFound')) throw error
        policy = undefined
      }
    }
  }

  /** The policy as it is now, if its ledger is still ours; a deleted one is made again with what we know it held. */
  async #own(signal: AbortSignal): Promise<MaintenancePolicy> {
    const policy = (await this.#find(signal)) ?? (await this.#comesBack(signal)) ?? (await this.#fetch(signal))
    const found = policy.status?.ledger
    if (found?.epoch === this.#epoch) return policy
    if (found && found.epoch > this.#epoch) {
      throw new SlipwayError(
        'NotLeader',
        `the ledger is at epoch ${found.epoch}, ours is ${this.#epoch}: another operator leads`,
      )
    }
    if (found) return this.#wentBack(policy, found, signal)
    const renewed = { ...this.#ledger, epoch: this.#epoch + 1 }
    const written = await this.#write(policy, renewed, signal)
    this.#epoch = renewed.epoch
    this.#accept(written)
    return written
  }

  /** Only a restore of etcd makes an epoch lower. What else went back is not known: the next term asks every agent first. */
  async #wentBack(policy: MaintenancePolicy, found: Ledger, signal: AbortSignal): Promise<never> {
    const name = `epoch-${this.#epoch}`
    await this.#patch(policy, { rollCall: rollCallStatus(name, this.#ports.clock.now(), []) }, signal)
    throw new SlipwayError('NotLeader', `the ledger went back from epoch ${this.#epoch} to ${found.epoch}`)
  }

  /** Who replaces a policy may delete it first: one of ours would be in the way, and say that everything is allowed. */
  async #comesBack(signal: AbortSignal): Promise<MaintenancePolicy | undefined> {
    await sleep(this.#ports.clock, comesBackMs, signal)
    return this.#find(signal)
  }

  async #find(signal: AbortSignal): Promise<MaintenancePolicy | undefined> {
    try {
      return await this.#ports.api.get(maintenancePolicies, { name: policyName }, signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
      return undefined
    }
  }

  async #fetch(signal: AbortSignal): Promise<MaintenancePolicy> {
    const { api } = this.#ports
    const found = await this.#find(signal)
    if (found) return found
    try {
      const { apiVersion, kind } = maintenancePolicies
      return await api.create(
        maintenancePolicies,
        { apiVersion, kind, metadata: { name: policyName }, spec: {} },
        signal,
      )
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
      return api.get(maintenancePolicies, { name: policyName }, signal)
    }
  }

  #write(policy: MaintenancePolicy, ledger: Ledger, signal: AbortSignal): Promise<MaintenancePolicy> {
    // What was waited for is over when a ledger is written.
    const over = policy.status?.rollCall && { rollCall: null }
    return this.#patch(policy, { ledger, ...acceptanceOf(policy, this.#ports.clock.now()), ...over }, signal)
  }

  #patch({ metadata }: MaintenancePolicy, status: object, signal: AbortSignal): Promise<MaintenancePolicy> {
    const { uid, resourceVersion } = metadata
    return this.#ports.api.patch(
      maintenancePolicies,
      { name: policyName },
      { type: 'merge', body: { metadata: { uid, resourceVersion }, status } },
      signal,
      'status',
    )
  }

  #accept(policy: MaintenancePolicy): void {
    this.#cluster.policies.learn(policy)
    this.#ledger = policy.status?.ledger ?? this.#ledger
    this.#byNode = new Map(this.#ledger.grants.map((grant) => [grant.node, grant]))
  }
}
