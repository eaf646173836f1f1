import type { DrainSettings } from '../../api/drain-settings.ts'
import { labelSelector } from '../../api/scalars.ts'
import type { PlanDrain, PlanSelector } from '../../api/upgrade-plan.ts'
import { formatDuration } from '../duration.ts'
import { goDuration } from './go-values.ts'
import type { Remark } from './imported.ts'

type Say = (kind: Remark['kind'], what: string, text: string) => void

/** What `kubectl drain` is told by a Plan; without it no pod leaves. */
export function planDrain(drain: PlanDrain | null | undefined, say: Say): DrainSettings {
  if (!drain) {
    say('Differs', 'no drain', 'the node is cordoned while it is worked on, and every pod stays on it (drain.rules)')
    return { rules: [{ action: 'Skip' }] }
  }
  if (drain.ignoreDaemonSets === false) {
    say('Differs', 'drain.ignoreDaemonSets=false', 'pods of DaemonSets always stay: they would come back at once')
  }
  if (typeof drain.skipWaitForDeleteTimeout === 'number' && drain.skipWaitForDeleteTimeout > 0) {
    const text = 'pods that do not end are waited for: drain.onTimeout says for how long, and what then'
    say('NoEquivalent', `drain.skipWaitForDeleteTimeout=${drain.skipWaitForDeleteTimeout}`, text)
  }
  const isKeepingData = drain.deleteEmptydirData === false || drain.deleteLocalData === false
  return {
    ...timeoutOf(drain, say),
    ...graceOf(drain, say),
    ...(drain.force && { unmanagedPods: 'Delete' as const }),
    ...(isKeepingData && { emptyDir: 'Block' as const }),
    ...rulesOf(drain, say),
  }
}

function timeoutOf({ timeout }: PlanDrain, say: Say): Pick<DrainSettings, 'timeout' | 'onTimeout'> {
  if (timeout === null || timeout === undefined) return {}
  const ms = typeof timeout === 'number' ? timeout / 1e6 : goDuration(timeout)
  if (ms === undefined) {
    say('ToFillIn', `drain.timeout=${timeout}`, 'it is no duration such as 5m')
    return { timeout: '<a duration such as 5m>' }
  }
  if (ms === 0) return {}
  say('Differs', `drain.timeout=${timeout}`, 'the node is put back and counts as failed: slipway retry NAME')
  return { timeout: formatDuration(Math.max(1000, ms)), onTimeout: 'Abort' }
}

function graceOf({ gracePeriod }: PlanDrain, say: Say): Pick<DrainSettings, 'podGracePeriod'> {
  if (typeof gracePeriod !== 'number' || gracePeriod < 0) return {}
  if (gracePeriod === 0) {
    say('Differs', 'drain.gracePeriod=0', 'pods get a second: without any they are not stopped, only forgotten')
  }
  return { podGracePeriod: formatDuration(Math.max(1, Math.min(gracePeriod, 99_999)) * 1000) }
}

function rulesOf({ podSelector, disableEviction }: PlanDrain, say: Say): Pick<DrainSettings, 'rules'> {
  const selector = podSelector ? readSelector(podSelector) : undefined
  if (podSelector && selector === undefined) {
    say('ToFillIn', 'drain.podSelector', 'it is no label selector: write drain.rules that skip the pods that stay')
  }
  if (disableEviction) {
    const text = 'pods are evicted first, and deleted in spite of their budgets after 5m (drain.rules, action Force)'
    say('Differs', 'drain.disableEviction', text)
  }
  const action = disableEviction ? ('Force' as const) : ('Evict' as const)
  if (selector) return { rules: [{ selector, action }, { action: 'Skip' }] }
  return disableEviction ? { rules: [{ action }] } : {}
}

export function readSelector({ matchLabels, matchExpressions }: PlanSelector) {
  const parsed = labelSelector.safeParse({
    ...(matchLabels && { matchLabels }),
    ...(matchExpressions && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        ...{ key, operator },
        ...(values && values.length > 0 && { values }),
      })),
    }),
  })
  return parsed.success ? parsed.data : undefined
}
