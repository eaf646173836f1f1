import { expect } from 'vitest'
import { backupDesk } from '../../src/agent/backup/backup-desk.ts'
import type { BackupRequest } from '../../src/api/backup.ts'
import { agentStatusSchema, nodeStates } from '../../src/api/node-state.ts'
import type { BackupCodec } from '../../src/ports/backup-codec.ts'
import type { RestoreProof } from '../../src/ports/restore-proof.ts'
import { MemoryStore } from '../fakes/memory-store.ts'
import { AgentBench } from './agent-bench.ts'
import { RecordedEtcd } from './recorded-etcd.ts'
import { RecordedSnapshots } from './recorded-snapshot.ts'

export const content = Buffer.from('all that Kubernetes knows\n'.repeat(200))
export const secrets = {
  store: { accessKeyID: 'id', secretAccessKey: 'never-to-be-told' },
  encryption: { key: 'nor-this-one' },
}
/** Leaves bytes as they are, in no time: what it really does has tests of its own. */
const plainCodec: BackupCodec = {
  encode: (snapshot) => snapshot,
  decode: (stored) => stored,
  canDecode: ({ key }) => key !== 'recipient',
}

/** An agent that is asked for backups, with an etcd and a store that are recorded. */
export class BackupBench extends AgentBench {
  readonly store = new MemoryStore()
  readonly snapshots = new RecordedSnapshots(content)
  readonly etcd = new RecordedEtcd(
    [1, 2, 3].map((id) => ({ id: String(id), name: `cp${id}`, url: `https://10.0.0.${id}:2379` })),
  )
  proof: RestoreProof | undefined
  sealedText = JSON.stringify(secrets)

  launch(): this {
    if (!this.cluster.node) this.cluster.place(undefined)
    this.disk.budget = Number.POSITIVE_INFINITY
    const tools = { stores: this.store, codec: plainCodec, requests: this.etcd, streams: this.snapshots }
    const unseal = () => Promise.resolve(this.sealedText)
    this.start({ sideTasks: [backupDesk({ ...tools, proof: this.proof, unseal })] })
    return this
  }

  get answer() {
    return this.cluster.agent?.backup
  }

  /** The question, or none any more. */
  place(part: Partial<BackupRequest> | undefined): void {
    const { node } = this.cluster
    if (!node) throw new Error('there is no NodeState')
    const { backup: _, ...spec } = node.spec
    this.cluster.api.put(nodeStates, { ...node, spec: { ...spec, ...(part && { backup: request(part) }) } })
  }

  async ask(part: Partial<BackupRequest> = {}) {
    this.place(part)
    const wanted = request(part).request
    await this.clock.until(() => this.answer?.request === wanted && this.answer.state !== 'Running')
    expect(agentStatusSchema.safeParse(this.cluster.agent).error).toBeUndefined()
    expect(this.store.open_).toBe(0)
    return this.answer
  }
}

function request(part: Partial<BackupRequest> = {}): BackupRequest {
  return {
    request: 'op-1/1',
    name: 'b1',
    verify: 'Hash',
    store: { name: 'nightly', path: '/var/backups' },
    sealed: { secret: 's', key: 'backup', version: '1', recipient: 'r', text: 't' },
    etcd: { endpoints: ['https://10.0.0.1:2379'] },
    timeout: '10m',
    ...part,
  }
}

/** Held until it is given up. */
export const forEver = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
