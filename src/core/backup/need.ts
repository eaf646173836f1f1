// Rule 9: which nodes of an update need a backup before they are taken, where it goes, and which backup is good enough.

import type { BackupStoreSpec, Verification } from '../../api/backup.ts'
import type { BackupPoint, UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { type DurationMs, parseDuration } from '../duration.ts'

export interface BackupTerms {
  readonly store: BackupStoreSpec
  readonly verify: Verification
  readonly maxAgeMs: DurationMs
  readonly before: readonly BackupPoint[]
}

export type BackupNeed =
  | { readonly need: 'none' }
  | { readonly need: 'wanted'; readonly terms: BackupTerms }
  /** It may not go on: nobody could keep its promise. */
  | { readonly need: 'refused'; readonly reason: Reason }

type PolicyPart = Pick<MaintenancePolicySpec, 'backupStores' | 'datastore' | 'etcd'>

const defaultMaxAge = '1h'
/** Between its end and the moment at which the node is taken the control plane is asked once more. */
const leastAgeMs = 60_000

export function backupNeed(spec: DirectUpdateSpec, policy: PolicyPart = {}): BackupNeed {
  const { etcd = 'IfConfigured', store: wanted, before = ['ControlPlane'], verify = 'Hash', maxAge } = spec.backup ?? {}
  if (etcd === 'Never' || (etcd === 'IfConfigured' && !touchesState(spec))) return { need: 'none' }
  const { backupStores: stores = [] } = policy
  if (etcd === 'IfConfigured' && wanted === undefined && (stores.length === 0 || hasNoEtcd(policy))) {
    return { need: 'none' }
  }
  const store = wanted === undefined ? stores[0] : stores.find(({ name }) => name === wanted)
  if (!store) return refused('BackupStoreMissing', missing(wanted, stores))
  if (hasNoEtcd(policy)) {
    const why = 'spec.datastore of MaintenancePolicy/default says that there is no etcd; set spec.backup.etcd to Never'
    return refused('BackupHostMissing', `the update needs a backup of etcd, but ${why}`)
  }
  const maxAgeMs = Math.max(leastAgeMs, parseDuration(maxAge ?? defaultMaxAge))
  return { need: 'wanted', terms: { store, verify, maxAgeMs, before } }
}

/** What a backup is made before: another version, another backup. */
export function backupStep(point: BackupPoint, { kubernetes }: Work): string {
  return kubernetes ? `${point} ${kubernetes.version}` : point
}

/** The point a node of this role stands at; undefined where none does. */
export function pointOf(role: 'ControlPlane' | 'Worker', hasBegunWorkers: boolean): BackupPoint | undefined {
  if (role === 'ControlPlane') return 'ControlPlane'
  return hasBegunWorkers ? undefined : 'FirstWorker'
}

/** Made for this step, in this store, checked as asked, and not too old by the clock of whoever leads. */
export function goodBackup(
  backups: readonly UpdateBackup[] | undefined,
  step: string,
  { store, verify, maxAgeMs }: BackupTerms,
  now: Date,
): UpdateBackup | undefined {
  return backups?.findLast(
    (backup) =>
      backup.step === step &&
      backup.store === store.name &&
      (verify === 'Hash' || backup.verified === 'Restore') &&
      // Another leader's clock may have been ahead.
      Math.abs(now.getTime() - Date.parse(backup.at)) <= maxAgeMs,
  )
}

/** A script may do anything, but most do nothing to the state of the cluster: who wants a backup for one says Required. */
function touchesState({ kubernetes, os, binary }: DirectUpdateSpec): boolean {
  return kubernetes !== undefined || os !== undefined || binary !== undefined
}

function hasNoEtcd({ datastore, etcd }: PolicyPart): boolean {
  return datastore === 'Other' && etcd === undefined
}

function missing(wanted: string | undefined, stores: readonly BackupStoreSpec[]): string {
  const needs = 'the update needs a backup of etcd'
  if (wanted === undefined) return `${needs}, and spec.backupStores of MaintenancePolicy/default names no store`
  const known = stores.length > 0 ? stores.map(({ name }) => name).join(', ') : 'none'
  return `${needs} in store ${wanted}, which is not in spec.backupStores of MaintenancePolicy/default (it has ${known})`
}

function refused(code: Reason['code'], message: string): BackupNeed {
  return { need: 'refused', reason: { code, message } }
}
