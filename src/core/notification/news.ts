// What receivers are told of, read off what the API says now: so whoever leads next finds the same, under the same key.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { NewsKind } from '../../api/notification.ts'
import type { ScheduledUpdate } from '../../api/schedule.ts'
import { presentID } from '../update/path-step.ts'
import { isBroken } from '../update/retry.ts'

export interface News {
  /** The same news has the same: a receiver that gets it twice can tell. */
  readonly key: string
  readonly kind: NewsKind
  readonly at: string
  readonly code: string
  readonly message: string
  readonly update?: string
  readonly operation?: string
  readonly node?: string
}

/** What is older is told to nobody: it would come as a surprise. What waits for a person is told however long it has waited. */
export const newsLastMs = 3_600_000

const waiting: ReadonlySet<NewsKind> = new Set(['ApprovalWanted', 'NeedsAttention'])

/** There is such news only as long as it holds. */
export function stillStands({ kind }: News): boolean {
  return waiting.has(kind)
}

export interface NewsSources {
  readonly updates: Iterable<DirectUpdate>
  /** Those that failed or need a person. */
  readonly broken: Iterable<NodeState>
  readonly scheduled: Iterable<ScheduledUpdate>
  readonly policy: MaintenancePolicy | undefined
}

/** The oldest first. */
export function newsOf({ updates, broken, scheduled, policy }: NewsSources, now: Date): readonly News[] {
  const found = [
    ...[...updates].flatMap(ofUpdate),
    ...[...broken].flatMap(ofNode),
    ...[...scheduled].flatMap(ofSchedule),
    ...(policy ? ofPolicy(policy) : []),
  ]
  const sinceMs = now.getTime() - newsLastMs
  return found
    .filter((one) => stillStands(one) || Date.parse(one.at) >= sinceMs)
    .sort((a, b) => a.at.localeCompare(b.at))
}

const ends = {
  Succeeded: 'Finished',
  Cancelled: 'Finished',
  Failed: 'Failed',
  RequiresAttention: 'NeedsAttention',
} as const

function ofUpdate({ metadata, status }: DirectUpdate): readonly News[] {
  const { operationID: operation, phase, startedAt, finishedAt, wave, conditions, summary } = status ?? {}
  if (operation === undefined || startedAt === undefined || phase === undefined) return []
  const update = metadata.name
  const about = { update, operation }
  const said = conditions?.find(({ type }) => type === 'Progressing')
  const turned = (type: string) => conditions?.find((one) => one.type === type)?.lastTransitionTime
  const found: News[] = []
  // Before anything of it began it may still be refused.
  if (phase !== 'Pending' && phase !== 'Planned' && summary) {
    const message = `update ${update} began, ${summary.total} node(s)`
    found.push({ ...about, key: `${operation} Started`, kind: 'Started', at: startedAt, code: 'Started', message })
  }
  const end = phase === 'Succeeded' || phase === 'Cancelled' || phase === 'Failed' || phase === 'RequiresAttention'
  if (end) {
    const at = finishedAt ?? latest(startedAt, turned('Stalled'), turned('Progressing'))
    const message = `update ${update}: ${said?.message ?? phase}`
    found.push({ ...about, key: `${operation} ${phase} ${at}`, kind: ends[phase], at, code: phase, message })
  }
  if (wave?.promotion === 'Wanted') {
    // Its soak blocked it as well.
    const at = latest(wave.since, wave.soakUntil, turned('Blocked'))
    const key = `${presentID(status ?? {})} ApprovalWanted ${wave.index} ${wave.soakSince ?? wave.since}`
    const message = `update ${update}: wave ${wave.index + 1} of ${wave.of} is done; slipway approve ${update} lets the next begin`
    found.push({ ...about, key, kind: 'ApprovalWanted', at, code: 'ApprovalWanted', message })
  }
  return found
}

function latest(first: string, ...others: readonly (string | undefined)[]): string {
  return others.reduce<string>((last, one) => (one && Date.parse(one) > Date.parse(last) ? one : last), first)
}

function ofNode({ metadata, status }: NodeState): readonly News[] {
  const rollout = status?.rollout
  if (!rollout || !isBroken(rollout.phase)) return []
  const { operationID: operation, update, since: at, reason, phase } = rollout
  const node = metadata.name
  const message = `node ${node} of ${update}: ${reason?.message ?? phase}; slipway why ${node} tells more`
  const key = `${operation} ${node} ${phase} ${at}`
  return [{ key, kind: 'NodeFailed', at, code: reason?.code ?? phase, message, update, operation, node }]
}

function ofSchedule({ metadata, status }: ScheduledUpdate): readonly News[] {
  const { phase, missedAt: at } = status ?? {}
  if (phase !== 'Missed' || at === undefined) return []
  const message = `ScheduledUpdate ${metadata.name} was missed: nobody could start it in time; set spec.at anew`
  return [{ key: `${metadata.uid} Missed ${status?.at}`, kind: 'ScheduleMissed', at, code: 'Missed', message }]
}

function ofPolicy({ status }: MaintenancePolicy): readonly News[] {
  return (status?.backups ?? []).flatMap(({ store, lastFailure }) => {
    if (!lastFailure) return []
    const { at, reason } = lastFailure
    const message = `backup to store ${store} failed: ${reason.message}`
    return [{ key: `backup ${store} ${at}`, kind: 'BackupFailed' as const, at, code: reason.code, message }]
  })
}
