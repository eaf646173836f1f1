// How one of our updates stands, in the words of CUPCAKE's status.

import { createHash } from 'node:crypto'
import type { CupcakeDirectStatus, CupcakeNodePhase, CupcakeNodeStatus, CupcakePhase } from '../../api/cupcake.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { cordonOwner } from '../../core/node/node-facts.ts'
import { belongsTo } from '../../core/node/order.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import { presentID } from '../../core/update/path-step.ts'
import { backupInfoOf } from './cupcake-backup.ts'

/** More would not fit into one object; those that matter are kept. */
const mostNodes = 1000

export interface DirectStatusView {
  readonly ours: DirectUpdate
  /** What their status says now. */
  readonly before: CupcakeDirectStatus | undefined
  /** The nodes that ours selects. */
  readonly nodes: readonly { readonly node: Node; readonly state: NodeState | undefined }[]
  /** What a person should know besides: what has no equivalent, which edit waits. */
  readonly notes: readonly string[]
  readonly now: Date
}

/** Their operations have an UUID; ours are named by what they do. The same one always gets the same. */
export function cupcakeOperationID(operationID: string): string {
  const hex = createHash('sha256').update(operationID).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

export function cupcakePhaseOf({ spec, status }: DirectUpdate): CupcakePhase {
  switch (status?.phase) {
    case 'InProgress':
    case 'Paused':
      return 'InProgress'
    case 'Succeeded':
    case 'Failed':
    case 'Cancelled':
    case 'RequiresAttention':
      return status.phase
    case 'Planned':
      return spec.dryRun ? 'Succeeded' : 'Pending'
    case 'Pending':
    case 'Planning':
    case undefined:
      // A plan that is refused for now is what their preflight called for a person for.
      return said(status, 'Planned')?.status === 'False' ? 'RequiresAttention' : 'Pending'
  }
}

export function directStatusOf(view: DirectStatusView): CupcakeDirectStatus {
  const { ours, before, now } = view
  const { status = {} } = ours
  const phase = cupcakePhaseOf(ours)
  const over = isEndedPhase(status.phase)
  const nodes = nodesOf(view, phase)
  const backupInfo = backupInfoOf(status)
  const after: CupcakeDirectStatus = {
    phase,
    ...(status.operationID !== undefined && { operationID: cupcakeOperationID(status.operationID) }),
    ...(status.startedAt !== undefined && { startedAt: status.startedAt }),
    ...(before?.lastUpdated !== undefined && { lastUpdated: before.lastUpdated }),
    ...(over && status.finishedAt !== undefined && { completedAt: status.finishedAt }),
    message: messageOf(view, phase),
    ...(nodes && { nodes }),
    ...(status.summary && {
      summary: {
        total: status.summary.total,
        completed: status.summary.done + status.summary.skipped,
        upgrading: status.summary.working,
        pending: status.summary.waiting,
        failed: status.summary.failed,
      },
    }),
    ...preflightOf(status),
    ...pathOf(ours, over),
    ...(backupInfo && { backupInfo }),
  }
  return equalJson(before, after) ? after : { ...after, lastUpdated: now.toISOString() }
}

function messageOf({ ours, notes }: DirectStatusView, phase: CupcakePhase): string {
  const { status } = ours
  const told =
    (phase === 'RequiresAttention' && said(status, 'Planned')?.status === 'False'
      ? said(status, 'Planned')
      : said(status, 'Blocked')?.status === 'True'
        ? said(status, 'Blocked')
        : said(status, 'Progressing')) ?? said(status, 'Planned')
  const { steps, step } = stepsOf(ours)
  const title =
    phase === 'InProgress' && steps.length > 1 ? [`Step ${step + 1}/${steps.length}: Upgrading to ${steps[step]}`] : []
  return [...title, told?.message ?? 'it is looked at', ...notes].join('; ').slice(0, 4096)
}

function preflightOf({
  preflight,
}: NonNullable<DirectUpdate['status']>): Pick<CupcakeDirectStatus, 'preflightResults'> {
  if (!preflight) return {}
  const checks = preflight.map(({ check, result, message }) => ({
    name: check,
    passed: result !== 'Failed' && result !== 'Unknown',
    message,
  }))
  return { preflightResults: { passed: checks.every(({ passed }) => passed), checks } }
}

function stepsOf({ status }: DirectUpdate): { readonly steps: readonly string[]; readonly step: number } {
  const { path } = status ?? {}
  return { steps: (path?.steps ?? (path ? [path.target] : [])).map(plain), step: path?.step ?? 0 }
}

function pathOf(ours: DirectUpdate, over: boolean): Pick<CupcakeDirectStatus, 'upgradePath'> {
  const { path } = ours.status ?? {}
  if (!path) return {}
  const { steps, step } = stepsOf(ours)
  return {
    upgradePath: {
      currentVersion: plain(path.current),
      targetVersion: plain(path.target),
      steps: [...steps],
      currentStep: over && ours.status?.phase === 'Succeeded' ? steps.length - 1 : step,
      totalSteps: steps.length,
    },
  }
}

/** They write versions without the v. */
function plain(version: string): string {
  return version.replace(/^v/, '')
}

function nodesOf({ ours, before, nodes }: DirectStatusView, phase: CupcakePhase): CupcakeDirectStatus['nodes'] {
  if (ours.status?.operationID === undefined || nodes.length === 0) return undefined
  const id = presentID(ours.status)
  const told = nodes.map(({ node, state }) => {
    const { name } = node.metadata
    return [name, nodeStatusOf(id, node, state, before?.nodes?.[name], phase)] as const
  })
  // Whoever is under work or failed is what a person looks for.
  const rank = ({ phase: at }: CupcakeNodeStatus) =>
    at === 'Failed' ? 0 : at === 'Pending' || at === 'Completed' ? 2 : 1
  const kept = told.length <= mostNodes ? told : told.toSorted(([, a], [, b]) => rank(a) - rank(b)).slice(0, mostNodes)
  return Object.fromEntries(kept)
}

function nodeStatusOf(
  operationID: string,
  node: Node,
  state: NodeState | undefined,
  before: CupcakeNodeStatus | undefined,
  phase: CupcakePhase,
): CupcakeNodeStatus {
  const rollout = state?.status?.rollout
  if (rollout?.operationID !== operationID) {
    if (state?.status?.completed?.includes(operationID)) return { ...before, phase: 'Completed' }
    if (phase === 'Succeeded') return { phase: 'Completed', message: 'nothing was to be done' }
    return { phase: 'Pending' }
  }
  const at = nodePhaseOf(rollout, node, operationID)
  const lastStep = lastStepOf(operationID, state)
  const startedAt = before?.startedAt ?? (at === 'Pending' ? undefined : rollout.since)
  const isTrouble = rollout.phase === 'Failed' || rollout.phase === 'RequiresAttention'
  return {
    phase: at,
    ...(lastStep !== undefined && { lastStep }),
    ...(startedAt !== undefined && { startedAt }),
    lastUpdated: rollout.since,
    ...(at === 'Completed' && { completedAt: rollout.finishedAt ?? rollout.since }),
    ...(rollout.reason && { [isTrouble ? 'error' : 'message']: rollout.reason.message }),
  }
}

export function nodePhaseOf(rollout: Rollout, node: Node, operationID: string): CupcakeNodePhase {
  switch (rollout.phase) {
    case 'Pending':
    case 'Staging':
      return 'Pending'
    case 'Draining':
      return 'Draining'
    case 'Assigned':
    case 'Working':
      return 'Upgrading'
    case 'Verifying':
      return 'Verifying'
    case 'Done':
      return cordonOwner(node) === operationID ? 'Uncordoning' : 'Completed'
    case 'Failed':
      return 'Failed'
    case 'RequiresAttention':
      // It may go on yet: only a person can tell.
      return rollout.drain && rollout.drain.left > 0 ? 'Draining' : 'Upgrading'
  }
}

function lastStepOf(operationID: string, state: NodeState | undefined): string | undefined {
  const order = state?.spec.order
  const report = state?.status?.agent?.order
  if (!order || report?.id !== order.id || !belongsTo(order, operationID)) return undefined
  return report.steps.findLast(({ state: done }) => done === 'Succeeded')?.name
}

function said(status: DirectUpdate['status'], type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}
