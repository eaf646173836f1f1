import { useState } from 'react'
import type { BudgetView } from '../../../api/console.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { PhaseChip } from '../../parts/phase-chip.tsx'
import { ReasonText } from '../../parts/reason-text.tsx'
import { EmptyState } from '../../parts/states.tsx'
import table from '../../parts/table.module.css'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import styles from './holders.module.css'
import { holders } from './slot-rows.ts'

const rowsShown = 7

export function Holders({ budgets }: { readonly budgets: readonly BudgetView[] }) {
  const [whole, setWhole] = useState(false)
  const all = holders(budgets)
  const shown = whole ? all : all.slice(0, rowsShown)
  return (
    <Card
      title="Who holds a slot"
      aside={
        all.length > rowsShown ? (
          <Button small kind="ghost" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? 'Show fewer' : `oldest first, ${rowsShown} of ${all.length}`}
          </Button>
        ) : (
          <p>oldest first</p>
        )
      }
    >
      {all.length === 0 ? (
        <EmptyState title="Nobody" glyph="slots" family="idle">
          <p>Every slot is free: no node is away.</p>
        </EmptyState>
      ) : (
        <table className={table.table}>
          <colgroup>
            <col className={styles.node} />
            <col className={styles.phase} />
            <col className={styles.holder} />
            <col className={styles.since} />
            <col className={table.roomy} />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Phase</th>
              <th scope="col">Holder</th>
              <th scope="col" className={table.right}>
                Since
              </th>
              <th scope="col" className={table.roomy}>
                Returns when
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ node, phase, holder, since, returnsWhen }) => (
              <tr key={node}>
                <td className={text.mono} title={node}>
                  <a href={`#/fleet/${node}`}>{node}</a>
                </td>
                <td>
                  <PhaseChip phase={phase} />
                </td>
                <td className={text.dim} title={holder}>
                  {holder}
                </td>
                <td className={table.right}>{since === undefined ? '–' : <TimeText at={since} />}</td>
                <td className={`${text.dim} ${table.roomy}`} title={returnsWhen}>
                  <ReasonText message={returnsWhen} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
