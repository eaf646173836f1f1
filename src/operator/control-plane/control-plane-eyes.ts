// What the control-plane nodes say of their API servers and of etcd, asked anew whenever one of them is to leave. A question has a
// name of this term's own and an answer repeats it: so how old an answer is, is measured by one clock, the leader's.

import type { ControlPlaneReport } from '../../api/control-plane.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { asStated } from '../../core/control-plane/datastore.ts'
import { type ApiAway, mayLeave } from '../../core/control-plane/may-leave.ts'
import { equalJson } from '../../core/merge-patch.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'

interface Question {
  readonly name: string
  readonly askedMs: number
}

/** An agent that is there answers within this; before it is over nobody is told that one is silent. */
const patienceMs = 10_000
/** While one may not leave it is asked so often whether that is still so: what is wrong is mended by people, who tell nobody. */
const askAgainMs = 60_000
/** Who owes an answer so long is silent, whatever was said before. */
const silentMs = 30_000
/** So long an answer is good enough to take a node away; the agent looks again itself before it does. */
const freshMs = 20_000

export class ControlPlaneEyes {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #epoch: () => number
  readonly #questions = new Map<string, Question>()
  #count = 0
  #isAwaited = false
  #askedMs = Number.NEGATIVE_INFINITY

  constructor(ports: OperatorPorts, cluster: Cluster, epoch: () => number) {
    this.#ports = ports
    this.#cluster = cluster
    this.#epoch = epoch
  }

  /** Calls back when a node waits for the control plane and there is news of it. */
  follow(wake: () => void): void {
    const news = (name: string, before: NodeState | undefined, after: NodeState | undefined) => {
      if (!this.#isAwaited || !this.#cluster.controlPlane.has(name)) return
      if (!equalJson(before?.status?.agent?.controlPlane, after?.status?.agent?.controlPlane)) wake()
    }
    this.#cluster.states.subscribe((change) => {
      const { type, key, object } = change
      news(key, type === 'changed' ? change.before : undefined, type === 'removed' ? undefined : object)
    })
    this.#cluster.nodes.subscribe(({ type }) => {
      if (type !== 'changed' && this.#isAwaited) wake()
    })
  }

  /** Whoever still waits says so in the pass that begins. */
  beginPass(): void {
    this.#isAwaited = false
  }

  /** Why this control-plane node may not leave now. */
  obstacle(node: string, apiAway: ApiAway): Reason | undefined {
    const reason =
      this.#judge(node, apiAway, (name) => (this.#isSilent(name) ? undefined : this.#report(name))) ??
      this.#judge(node, apiAway, (name) => this.#fresh(name))
    if (reason) this.#isAwaited = true
    return reason
  }

  /** Asks those whose answer is not fresh and who do not owe one. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#askedMs = this.#ports.clock.monotonicMs()
    await Promise.all(this.#unheard().map((name) => this.#askOne(name, signal)))
  }

  /** How long it is too early to call one silent. */
  earlyMs(): number {
    const now = this.#ports.clock.monotonicMs()
    const since = this.#unheard().map((name) => {
      if (!this.#cluster.states.get(name)) return Number.NEGATIVE_INFINITY
      return this.#owed(name)?.askedMs ?? now
    })
    return Math.max(0, Math.min(now, ...since) + patienceMs - now)
  }

  /** When it is time to ask again, though all have said what is wrong; undefined where nobody waits. */
  askAgainMs(): number | undefined {
    return this.#isAwaited ? Math.max(0, this.#askedMs + askAgainMs - this.#ports.clock.monotonicMs()) : undefined
  }

  #isSilent(name: string): boolean {
    const askedMs = this.#owed(name)?.askedMs
    return askedMs !== undefined && this.#ports.clock.monotonicMs() - askedMs > silentMs
  }

  #unheard(): readonly string[] {
    return [...this.#cluster.controlPlane].filter((name) => this.#fresh(name) === undefined)
  }

  /** The question that stands in its NodeState and was not answered yet. */
  #owed(name: string): Question | undefined {
    const question = this.#questions.get(name)
    const isThere = this.#cluster.states.get(name)?.spec.controlPlane?.ask === question?.name
    return isThere && this.#report(name)?.answers !== question?.name ? question : undefined
  }

  async #askOne(name: string, signal: AbortSignal): Promise<void> {
    const state = this.#cluster.states.get(name)
    if (!state || this.#owed(name)) return
    const question = { name: `${this.#epoch()}-${++this.#count}`, askedMs: this.#ports.clock.monotonicMs() }
    const body = { metadata: { uid: state.metadata.uid }, spec: { controlPlane: { ask: question.name } } }
    try {
      const written = await this.#ports.api.patch(nodeStates, { name }, { type: 'merge', body }, signal)
      this.#questions.set(name, question)
      this.#cluster.states.learn(written)
    } catch (error) {
      // Gone with its node, or another's by now: the watch says so.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
    }
  }

  #judge(
    node: string,
    apiAway: ApiAway,
    reportOf: (name: string) => ControlPlaneReport | undefined,
  ): Reason | undefined {
    const nodes = [...this.#cluster.controlPlane].sort().map((name) => ({ name, report: reportOf(name) }))
    return mayLeave(node, nodes, apiAway)
  }

  #report(name: string): ControlPlaneReport | undefined {
    const { states, policy } = this.#cluster
    return asStated(states.get(name)?.status?.agent?.controlPlane, policy?.spec.datastore)
  }

  #fresh(name: string): ControlPlaneReport | undefined {
    const question = this.#questions.get(name)
    const report = this.#report(name)
    if (!question || report?.answers !== question.name) return undefined
    return this.#ports.clock.monotonicMs() - question.askedMs <= freshMs ? report : undefined
  }
}
