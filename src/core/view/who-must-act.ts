// Who can end a wait: a person, the cluster by itself, or the clock.

import { isReasonCode, type ReasonCode, reasonGroups } from '../../api/reason.ts'

export type WaitsFor = 'Person' | 'Cluster' | 'Clock'

const clock: ReadonlySet<string> = new Set<ReasonCode>([
  ...(['OutsideWindow', 'Frozen', 'WindowTooShort', 'WaveSoaking'] as const),
  ...(['PodCompleting', 'PodEvicting', 'PodTerminating', 'BackupRunning', 'HookRunning'] as const),
])

/** Of what waits or drains, what nothing but a person will end. */
const person: ReadonlySet<string> = new Set<ReasonCode>([
  ...(['BudgetAllowsNothing', 'NodeOnHold', 'PolicyPaused', 'WindowNeverOpens', 'CalendarInvalid'] as const),
  ...(['ApprovalWanted', 'UpdatePaused', 'FailuresReached', 'NodeNotReady', 'AgentMissing', 'EtcdAlarm'] as const),
  ...(['EtcdMemberMissing', 'ControlPlaneUnstated', 'WaitingForUpdate', 'BackupHostMissing'] as const),
  ...(['BackupSecretMissing', 'RollCall', 'ForeignLockUnknown', 'EtcdUnknown'] as const),
  ...(['PodUnderTwoBudgets', 'PodUnmanaged', 'PodKeepsData', 'PodFinalizers', 'PodEvictionRefused'] as const),
  ...(['PodStuck', 'VolumesStuck', 'DrainAborted', 'DrainTimedOut', 'FailedNodesInTheWay'] as const),
])

export function waitsFor(code: string): WaitsFor {
  if (clock.has(code)) return 'Clock'
  if (person.has(code) || !isReasonCode(code)) return 'Person'
  return Object.hasOwn(reasonGroups.waiting, code) || Object.hasOwn(reasonGroups.draining, code) ? 'Cluster' : 'Person'
}

const titles: Partial<Readonly<Record<ReasonCode, string>>> = {
  PodDisruptionBudget: 'A PodDisruptionBudget allows no disruption',
  ApprovalWanted: 'A wave waits for approval',
  WaveSoaking: 'A wave is being looked at',
  BudgetSpent: 'As many nodes are away as the budget allows',
  PolicyPaused: 'Everything is stopped',
  UpdatePaused: 'An update is paused',
}

/** `NodeOnHold` → `Node on hold`. */
export function titleOf(code: string): string {
  const known = isReasonCode(code) ? titles[code] : undefined
  if (known !== undefined) return known
  const words = code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
