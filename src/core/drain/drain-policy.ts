// How one operation empties its nodes: the policy's defaults with the operation's own settings on top.

import type { DrainSettings } from '../../api/drain-settings.ts'
import type { Pod } from '../../api/kube.ts'
import { parseDuration } from '../duration.ts'
import { selects } from '../label-selector.ts'

export interface Drain {
  readonly timeoutMs: number
  readonly onTimeout: 'Hold' | 'Abort' | 'Force'
  /** Absent = as each pod says. */
  readonly podGraceSeconds?: number
  readonly unmanagedPods: 'Block' | 'Delete'
  readonly emptyDir: 'Delete' | 'Block'
  readonly volumeTimeoutMs: number
  readonly rules: readonly DrainRule[]
}

export type DrainRule = NonNullable<DrainSettings['rules']>[number]

const defaultForceAfter = '5m'

/** Later settings win over earlier ones; their rules come first. */
export function drainOf(...settings: readonly (DrainSettings | undefined)[]): Drain {
  const merged: DrainSettings = Object.assign({}, ...settings)
  const { podGracePeriod } = merged
  return {
    timeoutMs: parseDuration(merged.timeout ?? '30m'),
    onTimeout: merged.onTimeout ?? 'Hold',
    ...(podGracePeriod !== undefined && { podGraceSeconds: parseDuration(podGracePeriod) / 1000 }),
    unmanagedPods: merged.unmanagedPods ?? 'Block',
    emptyDir: merged.emptyDir ?? 'Delete',
    volumeTimeoutMs: parseDuration(merged.volumeTimeout ?? '10m'),
    rules: settings.toReversed().flatMap((part) => part?.rules ?? []),
  }
}

/** The first rule that matches the pod. */
export function ruleFor({ metadata }: Pod, { rules }: Drain): DrainRule | undefined {
  return rules.find(
    ({ selector, namespaces }) =>
      selects(selector, metadata.labels) && (namespaces?.includes(metadata.namespace ?? '') ?? true),
  )
}

/** Absent = as the pod says. */
export function graceSecondsFor(rule: DrainRule | undefined, { podGraceSeconds }: Drain): number | undefined {
  return rule?.gracePeriod === undefined ? podGraceSeconds : parseDuration(rule.gracePeriod) / 1000
}

/** When a node's drain began, and when it is late. Instants in milliseconds; the present comes in with them. */
export interface DrainTimes {
  readonly nowMs: number
  readonly sinceMs: number
  readonly deadlineMs: number
  /** Nothing is judged late before this. */
  readonly graceUntilMs: number
}

/** From when on the pod may be deleted in spite of what keeps it; undefined = never. */
export function forceFrom(rule: DrainRule | undefined, drain: Drain, times: DrainTimes): number | undefined {
  const { sinceMs, deadlineMs, graceUntilMs } = times
  const instants = [
    ...(rule?.action === 'Force' ? [sinceMs + parseDuration(rule.timeout ?? defaultForceAfter)] : []),
    ...(drain.onTimeout === 'Force' ? [deadlineMs] : []),
  ]
  return instants.length === 0 ? undefined : Math.max(Math.min(...instants), graceUntilMs)
}
