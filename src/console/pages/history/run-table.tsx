import { useLocation } from 'wouter'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import hatch from '../../parts/hatch.module.css'
import { spanText } from '../../parts/instant.ts'
import { Chip } from '../../parts/phase-chip.tsx'
import table from '../../parts/table.module.css'
import { type Column, TableHead } from '../../parts/table-head.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import { isEnded, updateLook } from '../../parts/update-look.ts'
import { accuracy, type RunRow } from './run-rows.ts'
import styles from './run-table.module.css'

const columns: readonly Column[] = [
  { title: 'Run of' },
  { title: 'Result', width: styles.result },
  { title: 'What' },
  { title: 'Started', width: styles.started },
  { title: 'Took', width: styles.took, look: 'right' },
  { title: 'Predicted and real', width: styles.bars, look: 'roomy' },
  { title: 'Nodes', width: styles.nodes, look: 'right' },
  { title: 'Failed', width: styles.nodes, look: 'right' },
]

export interface RunTableProps {
  readonly rows: readonly RunRow[]
  /** Also those that are filtered out: bars keep their scale. */
  readonly all: readonly RunRow[]
  readonly chosen: string | undefined
}

export function RunTable({ rows, all, chosen }: RunTableProps) {
  const [, go] = useLocation()
  return (
    <Card>
      <table className={table.table}>
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => {
            const place = `/history/${encodeURIComponent(row.operationID)}`
            const isChosen = row.operationID === chosen
            return (
              <tr
                key={row.operationID}
                className={classNames(table.choosable, isChosen && table.chosen)}
                onClick={() => go(place)}
              >
                <td className={table.name} title={row.operationID}>
                  <a href={`#${place}`} aria-current={isChosen ? 'true' : undefined}>
                    {row.update}
                  </a>
                </td>
                <td>
                  <Chip {...updateLook(row.phase)} />
                </td>
                <td className={text.dim} title={row.target}>
                  {row.target}
                </td>
                <td className={text.dim}>
                  <TimeText at={row.startedAt} />
                </td>
                <td className={table.right}>
                  {row.tookSeconds === undefined ? '–' : spanText(row.tookSeconds * 1_000)}
                  {!isEnded(row.phase) && <span className={text.quiet}> so far</span>}
                </td>
                <td className={table.roomy}>
                  <Bars row={row} all={all} />
                </td>
                <td className={table.right}>{row.nodes ?? '–'}</td>
                <td className={table.right}>{row.failed ?? '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p className={styles.none}>No run matches.</p>}
    </Card>
  )
}

function Bars({ row, all }: { readonly row: RunRow; readonly all: readonly RunRow[] }) {
  const { real, predicted } = accuracy(row, all)
  const span = (seconds: number | undefined) => (seconds === undefined ? 'unknown' : spanText(seconds * 1_000))
  return (
    <div
      className={styles.bar}
      role="img"
      aria-label={`predicted ${span(row.predictedSeconds)}, real ${span(row.tookSeconds)}`}
    >
      {predicted !== undefined && (
        <i className={classNames(styles.predicted, hatch.hatch)} style={{ width: `${predicted}%` }} />
      )}
      <i className={styles.real} style={{ width: `${real}%` }} />
      {predicted !== undefined && <i className={styles.tick} style={{ left: `${predicted}%` }} />}
    </div>
  )
}
