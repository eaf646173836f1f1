// What Housekeeper writes on nodes: `upgrading` while one is worked on, `upgradeCompleted` from then until every node is done.
// A mark of ours beside them says that they are ours to take off, whoever led meanwhile.

import type { DirectUpdate } from '../../api/direct-update.ts'
import { housekeeperLabels, housekeeperMark, housekeeperOwnerLabel } from '../../api/housekeeper.ts'
import type { Node } from '../../api/kube.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'

export interface LabelChange {
  readonly labels: Readonly<Record<string, string | null>>
  readonly annotations: Readonly<Record<string, string | null>>
}

type Label = keyof typeof housekeeperLabels

export function isForHousekeeper({ metadata }: DirectUpdate): boolean {
  return metadata.labels?.[housekeeperOwnerLabel] !== undefined
}

/** What has to be written on the node; undefined for nothing. `update` is the one its labels should speak of. */
export function labelChange(
  node: Node,
  update: DirectUpdate | undefined,
  state: NodeState | undefined,
): LabelChange | undefined {
  const { labels = {}, annotations = {} } = node.metadata
  const wanted = update ? labelOf(update, state) : undefined
  const mark = annotations[housekeeperMark]
  if (wanted === undefined && mark === undefined) return undefined
  const wantedMark = wanted === undefined ? undefined : update?.metadata.name
  const isRight = (label: Label) => (labels[housekeeperLabels[label]] !== undefined) === (label === wanted)
  if (mark === wantedMark && isRight('upgrading') && isRight('completed')) return undefined
  return {
    labels: Object.fromEntries(
      (['upgrading', 'completed'] as const).map((label) => [housekeeperLabels[label], label === wanted ? '' : null]),
    ),
    annotations: { [housekeeperMark]: wantedMark ?? null },
  }
}

function labelOf({ metadata, status = {} }: DirectUpdate, state: NodeState | undefined): Label | undefined {
  const { operationID, phase } = status
  // When every node is done, or nobody goes on, they say nothing any more.
  if (operationID === undefined || phase === 'Succeeded' || phase === 'Cancelled') return undefined
  if (metadata.deletionTimestamp !== undefined) return undefined
  const { rollout, completed = [] } = state?.status ?? {}
  if (rollout?.operationID === operationID) return phaseLabel(rollout.phase)
  return completed.includes(operationID) ? 'completed' : undefined
}

function phaseLabel(phase: NodePhase): Label | undefined {
  switch (phase) {
    case 'Pending':
    case 'Staging':
      return undefined
    case 'Done':
      return 'completed'
    case 'Draining':
    case 'Assigned':
    case 'Working':
    case 'Verifying':
    case 'RequiresAttention':
    case 'Failed':
      return 'upgrading'
  }
}
