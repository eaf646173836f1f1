import type { PlanAnswer } from '../../../api/console.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { clockText, instantText } from '../../parts/instant.ts'
import table from '../../parts/table.module.css'
import { type Column, TableHead } from '../../parts/table-head.tsx'
import text from '../../parts/text.module.css'
import { titled } from '../../parts/titled.ts'
import styles from './order.module.css'

const columns: readonly Column[] = [
  { title: 'Wave', width: styles.wave },
  { title: 'Nodes', width: styles.nodes, look: 'right' },
  { title: 'Predicted', width: styles.when },
  { title: 'First' },
]

export function Order({ plan }: { readonly plan: PlanAnswer }) {
  const now = useNow(60_000)
  const start = Date.parse(plan.startsAt ?? plan.at)
  return (
    <Card title="Order" aside={<p>if started {instantText(start, now)}</p>}>
      <table className={table.table}>
        <TableHead columns={columns} />
        <tbody>
          {wavesOf(plan).map((wave) => {
            const more = wave.first.length > 0 && wave.total > wave.first.length
            const first = `${wave.first.join(', ')}${more ? ' …' : ''}`
            return (
              <tr key={wave.title}>
                <td>{titled(wave.title)}</td>
                <td className={table.right}>{wave.total}</td>
                <td className={text.dim}>{predicted(start, wave)}</td>
                <td className={text.dim} title={first}>
                  {first}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Card>
  )
}

/** A plan without waves takes its nodes as one. */
function wavesOf({ waves, nodes, durationSeconds }: PlanAnswer): PlanAnswer['waves'] {
  if (waves.length > 0) return waves
  return [{ title: 'all nodes', total: nodes, first: [], startSeconds: 0, endSeconds: durationSeconds.expected }]
}

function predicted(start: number, { startSeconds, endSeconds }: PlanAnswer['waves'][number]): string {
  if (startSeconds === undefined || endSeconds === undefined) return '–'
  const at = (seconds: number) => clockText(start + seconds * 1_000, undefined, false)
  return `≈ ${at(startSeconds)}–${at(endSeconds)}`
}
