// Puts the question for a backup into the NodeState of a host, with what is secret in it sealed to that host, and takes back
// questions that nobody wants answered any more.

import type { BackupRequest, BackupStoreSpec, Verification } from '../../api/backup.ts'
import { type Secret, secrets } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { type BackupHost, isAnswering } from '../../core/backup/host-choice.ts'
import { backupTimeout, type Question } from '../../core/backup/run.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { mergePatch } from '../../core/merge-patch.ts'
import { sealingContext } from '../../core/profile/sealing-context.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { patchState } from '../node/act.ts'
import type { OperatorPorts } from '../ports.ts'

export interface Asked {
  readonly question: Question
  readonly store: BackupStoreSpec
  readonly verify: Verification
}

/** The Secrets that a backup needs, by what each is for. */
interface Needed {
  readonly use: 'store' | 'encryption' | 'etcd'
  readonly name: string
}

export class BackupDesk {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #namespace: string

  constructor(ports: OperatorPorts, cluster: Cluster, namespace: string) {
    this.#ports = ports
    this.#cluster = cluster
    this.#namespace = namespace
  }

  /** Why it could not be asked yet. */
  async ask({ question, store, verify }: Asked, signal: AbortSignal): Promise<Reason | undefined> {
    const state = this.#cluster.states.get(question.node)
    const { etcd } = this.#cluster.policy?.spec ?? {}
    if (!state) return { code: 'BackupHostMissing', message: `${question.node} has no NodeState any more` }
    const sealed = await this.#seal(neededSecrets(store, etcd), state, signal)
    if ('code' in sealed) return sealed
    const { schedule: _schedule, ...place } = store
    const request: BackupRequest = {
      ...{ request: question.request, name: question.name, verify, store: place, timeout: backupTimeout },
      ...sealed,
      ...(etcd && { etcd: { endpoints: etcd.endpoints } }),
    }
    const change = { spec: { backup: mergePatch(state.spec.backup, request) } }
    await patchState(this.#ports.api, this.#cluster, state, change, signal)
    return undefined
  }

  /** Whoever makes a backup that nobody asks for stops. */
  async withdraw(hosts: readonly BackupHost[], wanted: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    for (const host of hosts) {
      const state = this.#cluster.states.get(host.name)
      if (!state || host.asked === undefined || wanted.has(host.asked) || !isAnswering(host)) continue
      await patchState(this.#ports.api, this.#cluster, state, { spec: { backup: null } }, signal)
    }
  }

  /** Hosts that keep settings and secrets of a store that the policy names no more are told to remove them. */
  async forget(hosts: readonly BackupHost[], stores: readonly BackupStoreSpec[], signal: AbortSignal): Promise<void> {
    for (const { name } of hosts) {
      const state = this.#cluster.states.get(name)
      const kept = state?.status?.agent?.backupStore
      const gone = stores.some((store) => store.name === kept) ? undefined : kept
      if (!state || state.spec.forgetStore === gone) continue
      await patchState(this.#ports.api, this.#cluster, state, { spec: { forgetStore: gone ?? null } }, signal)
    }
  }

  async #seal(
    needed: readonly Needed[],
    { metadata, status }: NodeState,
    signal: AbortSignal,
  ): Promise<Reason | Pick<BackupRequest, 'sealed'>> {
    const [first] = needed
    if (!first) return {}
    const { sealing } = this.#ports
    const recipient = status?.agent?.publicKey
    if (!sealing || recipient === undefined) {
      const why = sealing ? `${metadata.name} has published no key` : 'this operator cannot seal'
      return { code: 'HostKeyMissing', message: `the Secrets of the backup store cannot be sent: ${why}` }
    }
    const values: Partial<Record<Needed['use'], Readonly<Record<string, string>>>> = {}
    const versions: string[] = []
    for (const { use, name } of needed) {
      const secret = await this.#read(name, signal)
      if (!secret) {
        const what = `Secret ${name} of ${uses[use]} is not in namespace ${this.#namespace}`
        return { code: 'BackupSecretMissing', message: `${what}: create it` }
      }
      values[use] = decoded(secret)
      versions.push(`${secret.metadata.uid}/${secret.metadata.resourceVersion}`)
    }
    const named = { secret: first.name, key: 'backup', version: fingerprint(versions) }
    const text = sealing.seal(JSON.stringify(values), recipient, sealingContext(named))
    return { sealed: { ...named, recipient, text } }
  }

  async #read(name: string, signal: AbortSignal): Promise<Secret | undefined> {
    try {
      return await this.#ports.api.get(secrets, { name, namespace: this.#namespace }, signal)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }
}

const uses = { store: 'the backup store', encryption: 'the encryption of backups', etcd: 'spec.etcd' } as const

export function neededSecrets(
  { s3, gcs, encryption }: BackupStoreSpec,
  etcd: MaintenancePolicySpec['etcd'],
): readonly Needed[] {
  const store = s3?.secret ?? gcs?.secret
  return [
    ...(store === undefined ? [] : [{ use: 'store', name: store } as const]),
    ...(encryption ? [{ use: 'encryption', name: encryption.secret } as const] : []),
    ...(etcd ? [{ use: 'etcd', name: etcd.secret } as const] : []),
  ]
}

function decoded({ data }: Secret): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  )
}
