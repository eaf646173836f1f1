// The state of one machine as its own agent tells it, in lines for a person.

import type { LocalState } from '../api/local-protocol.ts'
import type { AgentStep } from '../api/node-state.ts'
import { type Column, tableLines } from './table.ts'
import { ageText } from './time-text.ts'

export function hostLines({ node, status, rollout }: LocalState, now: Date): readonly string[] {
  const { order, sentinels, facts } = status
  const since = (instant: string | undefined) => (instant === undefined ? 'no' : `${ageText(instant, now)} ago`)
  return [
    `Node:         ${node}`,
    `Agent:        ${status.version ?? 'starting'}`,
    ...(facts
      ? [`System:       ${facts.os}, ${facts.kernel}${facts.kubelet ? `, kubelet ${facts.kubelet}` : ''}`]
      : []),
    ...(rollout ? [`Phase:        ${rollout.phase}${rollout.reason ? `: ${rollout.reason.message}` : ''}`] : []),
    `Order:        ${order ? `${order.id} ${order.state}${order.reason ? `: ${order.reason.message}` : ''}` : 'none'}`,
    ...(order?.warnings ?? []).map((warning) => `Warning:      ${warning}`),
    ...(sentinels
      ? [
          `Maintenance:  asked for: ${since(sentinels.maintenanceRequired)}; let in: ${since(sentinels.maintenanceInProgress)}`,
          ...(sentinels.failure ? [`Failed:       ${sentinels.failure.message}`] : []),
          `Reboot:       asked for: ${since(sentinels.rebootRequired)}`,
        ]
      : ['Sentinels:    off']),
    ...(order && order.steps.length > 0 ? ['', ...tableLines(columns(now), order.steps)] : []),
  ]
}

const columns = (now: Date): readonly Column<AgentStep>[] => [
  { title: 'STEP', value: ({ name }) => name },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'STARTS', value: ({ attempts }) => String(attempts) },
  { title: 'AGE', value: ({ startedAt }) => ageText(startedAt, now) },
  { title: 'REASON', value: ({ reason }) => reason?.message ?? '' },
]
