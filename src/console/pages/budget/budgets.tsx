import type { BudgetView, SlotView } from '../../../api/console.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { familyClass, phaseLook } from '../../parts/phase-look.ts'
import text from '../../parts/text.module.css'
import { titled } from '../../parts/titled.ts'
import styles from './budgets.module.css'
import { notOurs, squares } from './slot-rows.ts'

export function Budgets({ budgets }: { readonly budgets: readonly BudgetView[] }) {
  return (
    <Card title="Budgets" aside={<p>solid: ours, outlined: others, dashed: free</p>}>
      {budgets.length === 0 ? (
        <p className={styles.none}>
          No budget is set: MaintenancePolicy/default is missing, or says nothing of budgets.
        </p>
      ) : (
        <ul className={styles.budgets}>
          {budgets.map((budget) => (
            <Row key={budget.title} budget={budget} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function Row({ budget }: { readonly budget: BudgetView }) {
  const { title, limit, used } = budget
  const { used: shown, free, more } = squares(budget)
  const said = `${used.length} of ${limit} in use${used.length > 0 ? `: ${used.map(({ node }) => node).join(', ')}` : ''}`
  return (
    <li>
      <div className={styles.title}>
        <b title={title}>{titled(title)}</b>
        <span className={`${text.quiet} ${text.small}`}>at most {limit}</span>
      </div>
      <div className={styles.slots} role="img" aria-label={said}>
        {shown.map((slot) => (
          <Square key={slot.node} slot={slot} />
        ))}
        {Array.from({ length: free }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a free slot is like any other
          <i key={index} title="free" />
        ))}
        {more > 0 && <span className={`${text.small} ${text.quiet}`}>and {more} more</span>}
      </div>
      <div className={styles.count} data-full={used.length >= limit}>
        <b>{used.length}</b> <span className={text.dim}>of {limit}</span>
      </div>
    </li>
  )
}

function Square({ slot: { node, phase, holder } }: { readonly slot: SlotView }) {
  const look = phaseLook(phase)
  const ours = holder !== notOurs
  return (
    <i
      className={classNames(familyClass(look.family), ours ? styles.ours : styles.others)}
      title={`${node}, ${look.label}, ${holder}`}
    >
      <Glyph name={look.glyph} />
    </i>
  )
}
