// How the cluster itself is, in four conditions: its API servers, its nodes, its certificates and its backups.

import type { BackupStoreSpec } from '../../api/backup.ts'
import type { StoreRecord } from '../../api/backup-plan.ts'
import type { UpdateCondition } from '../../api/direct-update.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { turnsBetween } from '../backup/store-turn.ts'
import { nameList } from '../name-list.ts'

export const healthConditions = ['ApiServersReady', 'NodesReady', 'CertificatesValid', 'BackupsRecent'] as const
export type HealthCondition = (typeof healthConditions)[number]

export interface HealthView {
  readonly now: Date
  /** Control-plane nodes that are not under work, and what each says of its API server; undefined = nothing. */
  readonly apiServers: readonly { readonly node: string; readonly ready: boolean | undefined }[]
  /** Not Ready, and nobody works on them. */
  readonly notReady: readonly string[]
  /** When the first certificate of each host runs out. */
  readonly certificates: readonly { readonly node: string; readonly expireAt: string }[]
  readonly stores: readonly BackupStoreSpec[]
  readonly records: readonly StoreRecord[]
}

type Judged = Omit<UpdateCondition, 'lastTransitionTime'> & { readonly type: HealthCondition }

const soonMs = 30 * 86_400_000

export function judgeHealth(view: HealthView): readonly Judged[] {
  return [judgeApiServers(view), judgeNodes(view), judgeCertificates(view), judgeBackups(view)]
}

/** What a person would want to be told anew: names come and go while a cluster is sick, but who is silent has to be looked for. */
export function isSameHealth(known: readonly UpdateCondition[], judged: readonly Judged[]): boolean {
  return judged.every(({ type, status, reason, message }) => {
    const old = known.find((condition) => condition.type === type)
    return old?.status === status && old.reason === reason && (status !== 'Unknown' || old.message === message)
  })
}

function judgeApiServers({ apiServers }: HealthView): Judged {
  const type = 'ApiServersReady'
  const those = (said: boolean | undefined) => apiServers.filter(({ ready }) => ready === said).map(({ node }) => node)
  const [sick, silent] = [those(false), those(undefined)]
  // Where no host tells of one they run in a way that we do not know (k3s).
  if (silent.length === apiServers.length) return notReported(type, 'no host tells of an API server')
  const unheard = `nothing is known of the API server of ${nameList(silent)}: look at the agent there (slipway nodes), and for kube-apiserver.yaml in /etc/kubernetes/manifests`
  if (sick.length > 0) {
    const also = silent.length > 0 ? `; ${unheard}` : ''
    return no(type, 'ApiServersNotReady', `/readyz says no on ${nameList(sick)}${also}`)
  }
  return silent.length > 0 ? notReported(type, unheard) : yes(type, 'every API server that is not under work is ready')
}

function judgeNodes({ notReady }: HealthView): Judged {
  const type = 'NodesReady'
  if (notReady.length === 0) return yes(type, 'every node that is not under work is Ready')
  return no(type, 'NodesNotReady', `${notReady.length} not Ready: ${nameList(notReady)}`)
}

function judgeCertificates({ certificates, now }: HealthView): Judged {
  const type = 'CertificatesValid'
  if (certificates.length === 0) {
    return notReported(type, 'no host tells of certificates')
  }
  const soon = certificates.filter(({ expireAt }) => Date.parse(expireAt) - now.getTime() < soonMs)
  if (soon.length === 0) return yes(type, 'no certificate of the control plane runs out within 30 days')
  const names = soon.map(({ node, expireAt }) => `${node} (${expireAt})`)
  return no(type, 'CertificatesRunOut', `run out within 30 days: ${nameList(names)}`)
}

/** Of stores with a schedule: the last backup must not be older than two of its turns. */
function judgeBackups({ stores, records, now }: HealthView): Judged {
  const type = 'BackupsRecent'
  const scheduled = stores.filter(({ schedule }) => schedule !== undefined)
  if (scheduled.length === 0) {
    return { type, status: 'Unknown', reason: 'NotScheduled', message: 'no backup store has a schedule' }
  }
  const late = scheduled.filter((store) => {
    const record = records.find((entry) => entry.store === store.name)
    const lastMs = Date.parse(record?.lastSuccess?.at ?? '')
    if (Number.isNaN(lastMs)) return record?.lastFailure !== undefined
    return turnsBetween(store, lastMs, now.getTime()) > 2
  })
  if (late.length === 0) return yes(type, 'every store with a schedule has a backup of its last turns')
  return no(type, 'BackupsMissing', `none of late in ${nameList(late.map(({ name }) => name))}`)
}

function yes(type: HealthCondition, message: string): Judged {
  return { type, status: 'True', reason: 'Healthy', message }
}

function notReported(type: HealthCondition, message: string): Judged {
  return { type, status: 'Unknown', reason: 'NotReported', message }
}

function no(type: HealthCondition, reason: ReasonCode, message: string): Judged {
  return { type, status: 'False', reason, message }
}
