import { configMaps } from '../../src/api/kube.ts'
import { KubeError, type KubeErrorCode } from '../../src/api/kube-error.ts'
import { type AgentStatus, type NodeState, nodeStates, type Order } from '../../src/api/node-state.ts'
import { mergePatch } from '../../src/sim/server/json.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'

const script = { name: 'hello', namespace: 'slipway-system' }

/** What one agent sees of a cluster, its NodeState and a script; the test plays the operator. */
export class OneNodeCluster {
  readonly api = new FakeKubeApi()
  readonly requests: string[] = []
  /** Set to make every patch fail without effect. */
  refusing: KubeErrorCode | undefined
  /** Set to drop this field of the agent's status on every patch, as a server with older CRDs prunes it. */
  pruned: keyof AgentStatus | undefined
  /** Fails the next patch after it took effect, and the watch does not show it either. */
  loseNextAnswer = false

  constructor() {
    this.api.before = (verb, type) => {
      this.requests.push(`${verb} ${type.plural}`)
      if (verb !== 'patch') return
      if (this.refusing) throw new KubeError(this.refusing, 'the pretend API refuses this')
      this.api.muted = this.loseNextAnswer
    }
    this.api.after = () => {
      if (!this.api.muted) return
      this.api.muted = false
      this.loseNextAnswer = false
      throw new KubeError('Timeout', 'no answer came')
    }
    this.api.admit = (object) => {
      const pruning = this.pruned ? { status: { agent: { [this.pruned]: null } } } : {}
      return mergePatch(object, pruning) as NodeState
    }
  }

  get node(): NodeState | undefined {
    return this.api.find(nodeStates, { name: 'w1' })
  }

  get agent(): AgentStatus | undefined {
    return this.node?.status?.agent
  }

  place(order: Order | undefined, nodeUID = 'node-uid', uid = 'state-uid'): void {
    const status = this.node?.metadata.uid === uid ? this.node.status : undefined
    const drift = this.node?.spec.drift
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'w1', uid: nodeUID }]
    this.api.put(nodeStates, {
      metadata: { name: 'w1', uid, creationTimestamp: '2026-01-01T00:00:00Z', ownerReferences },
      spec: { ...(drift && { drift }), ...(order && { order }) },
      ...(status && { status }),
    })
  }

  placeDrift(drift: NonNullable<NodeState['spec']['drift']>): void {
    const { node } = this
    if (!node) throw new Error('there is no node yet')
    this.api.put(nodeStates, { ...node, spec: { ...node.spec, drift } })
  }

  /** The order is withdrawn, and the agent's watch is late. */
  withdrawUnheard(): void {
    this.api.muted = true
    this.place(undefined)
    this.api.muted = false
  }

  /** Somebody deletes the NodeState; it stays until whoever watches over it lets it go. */
  beginDeletion(): void {
    const { node } = this
    if (!node) throw new Error('there is no node yet')
    const metadata = { ...node.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' }
    this.api.put(nodeStates, { ...node, metadata })
  }

  removeNode(): void {
    this.api.remove(nodeStates, { name: 'w1' })
  }

  storeScript(content: string): void {
    this.api.put(configMaps, { metadata: script, data: { script: content } })
  }

  removeScript(): void {
    this.api.remove(configMaps, script)
  }

  goAway(): void {
    this.api.goAway(new KubeError('Unreachable', 'the pretend API is away'))
  }

  comeBack(): void {
    this.api.failure = undefined
  }
}
