// One Lease, watched while a node is under work.

import { type Lease, leases } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { settlesSoon } from '../../kube/settles-soon.ts'
import { Store } from '../../kube/store.ts'
import type { OperatorPorts } from '../ports.ts'

interface LeaseName {
  readonly namespace: string
  readonly name: string
}

export class LeaseWatch {
  readonly #ports: OperatorPorts
  readonly #of: LeaseName
  readonly #wake: () => void
  readonly #store = new Store<Lease>()
  readonly #reflector: Reflector<Lease>
  readonly #life: LinkedAbort
  #isLate = false

  constructor(ports: OperatorPorts, of: LeaseName, wake: () => void, signal: AbortSignal) {
    this.#ports = ports
    this.#of = of
    this.#wake = wake
    this.#store.subscribe(wake)
    const selection = { namespace: of.namespace, fieldSelector: `metadata.name=${of.name}` }
    this.#reflector = new Reflector<Lease>({ ...ports, type: leases, store: this.#store, selection })
    this.#life = new LinkedAbort(signal)
    void this.#reflector.run(this.#life.signal)
  }

  stop(): void {
    this.#life.abort('the Lease is of no interest any more')
  }

  /** Waits a moment for the Lease to be known. Where it is not by then, `unknown` says why and the node is woken when it is. */
  async learn(signal: AbortSignal): Promise<void> {
    if (await settlesSoon(this.#ports.clock, (until) => this.#reflector.synced(until), signal)) return
    this.#isLate = true
    this.#reflector.synced(this.#life.signal).then(this.#wake, () => undefined)
  }

  get isKnown(): boolean {
    return this.#reflector.isSynced
  }

  /** Undefined where there is none. */
  get lease(): Lease | undefined {
    return this.#store.get(`${this.#of.namespace}/${this.#of.name}`)
  }

  /** Why it is not known whether there is one; undefined while that is no wonder. */
  get unknown(): string | undefined {
    if (this.isKnown || !this.#isLate) return undefined
    const { failure } = this.#reflector
    const { namespace, name } = this.#of
    const because = failure === undefined ? 'the API server has not answered yet' : textOf(failure)
    const next = isKubeError(failure, 'Forbidden')
      ? 'slipway install gives the operator the rights it needs'
      : 'it is asked again'
    return `Lease ${namespace}/${name} cannot be read: ${because}; ${next}`
  }
}

function textOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
