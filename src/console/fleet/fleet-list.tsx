// The fleet as a table: the nodes that matter first. The same filter narrows it.

import type { NodeTile, TilePhase } from '../../api/console.ts'
import { Card } from '../parts/card.tsx'
import { PhaseChip } from '../parts/phase-chip.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import text from '../parts/text.module.css'
import { TimeText } from '../parts/time-text.tsx'
import type { FleetJudge } from './fleet-filter.ts'
import { groupTitle, type Nodes } from './fleet-layout.ts'
import styles from './fleet-list.module.css'
import { nodesText, number } from './fleet-summary.ts'
import { sentence } from './tile-words.ts'

const most = 200

/** What broke, what waits, what moves, then the rest. */
const urgency: readonly TilePhase[] = [
  ...(['Failed', 'RequiresAttention', 'NotReady', 'Draining', 'Working', 'Verifying', 'Assigned'] as const),
  ...(['Cordoned', 'Staging', 'Pending', 'Skipped', 'Done', 'Idle'] as const),
]

const byName = new Intl.Collator('en', { numeric: true }).compare

export function urgentFirst(tiles: readonly NodeTile[]): readonly NodeTile[] {
  const rank = ({ phase, waits }: NodeTile) => urgency.indexOf(phase) * 2 + (waits ? 0 : 1)
  return [...tiles].sort((a, b) => rank(a) - rank(b) || byName(a.name, b.name))
}

export interface FleetListProps {
  readonly nodes: Nodes
  readonly judge: FleetJudge
  readonly selected: string | undefined
}

export function FleetList({ nodes, judge, selected }: FleetListProps) {
  const found = urgentFirst(Object.values(nodes).filter(judge.matches))
  const shown = found.slice(0, most)
  return (
    <Card className={styles.card}>
      <table className={styles.table}>
        <caption className={text.unseen}>Nodes, what needs a look first</caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Phase</th>
            <th scope="col">Place</th>
            <th scope="col">Reason</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((tile) => (
            <tr key={tile.name} className={tile.name === selected ? styles.selected : undefined}>
              <th scope="row">
                <a href={`#/fleet/${encodeURIComponent(tile.name)}`}>{tile.name}</a>
              </th>
              <td>
                <PhaseChip phase={tile.phase} />
              </td>
              <td className={text.dim}>
                {groupTitle(tile.group)}, {tile.zone}
              </td>
              <td className={styles.reason}>
                <ReasonText message={sentence(tile)} />
              </td>
              <td>{tile.since !== undefined && <TimeText at={tile.since} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.foot}>
        {found.length > most
          ? `${number(most)} of ${nodesText(found.length)}: narrow the filter to see the others`
          : nodesText(found.length)}
      </p>
    </Card>
  )
}
