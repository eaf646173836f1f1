import type { Order } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Host } from '../../ports/host.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

/** What a step may know when it decides what to run and whether its effect is there. */
export interface StepContext {
  readonly host: Host
  readonly order: Order
  /** Where the content staged for this order lies. */
  readonly contentPath: string
}

/** One program run on the host. Idempotent: after a reboot in the middle it is run again from the start. */
export interface Step {
  readonly name: string
  /** Rule 11: before such a step starts the NodeState is read afresh. */
  readonly disruptive: boolean
  /** How often it may be started before it counts as failed. */
  readonly attempts: number
  /** Its own deadline, where it has one besides the order's. */
  readonly timeoutMs?: number
  /** Restarts the kubelet: when it began is reported, so that only a later heartbeat counts. */
  readonly restartsKubelet?: boolean
  /** Takes a moment only: its start is reported together with its end, to spare a request. */
  readonly brief?: boolean
  argv(context: StepContext): Promise<readonly string[]>
  /** Looks at the host: true when the effect is there already, so that nothing is run. Absent where looking cannot tell. */
  holds?(context: StepContext, signal: AbortSignal): Promise<boolean>
  /** Looks at the host after the program ended well: what is missing, or undefined when the effect is there. */
  missing?(context: StepContext, signal: AbortSignal): Promise<string | undefined>
}

export interface Staging {
  readonly api: KubeApi
  /** True when the content with this SHA-256 is on the disk already. */
  hasContent(sha256: string): Promise<boolean>
  keepContent(content: string): Promise<void>
}

/** One way of changing a host. */
export interface Driver {
  /** As the field of an order's `work`: `script`, `kubernetes`. */
  readonly kind: string
  /**
   * Fetches, checks and keeps all that the steps need, before the first of them; nothing is looked up later. Returns the
   * reason when the order can never be carried out; throws what may pass.
   */
  stage?(order: Order, staging: Staging, signal: AbortSignal): Promise<Reason | undefined>
  /** In order; empty when the order has no such work. The same for the same order, always. */
  steps(order: Order): readonly Step[]
}
