import type { PlanAnswer } from '../../../api/console.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { familyClass } from '../../parts/phase-look.ts'
import { ReasonText } from '../../parts/reason-text.tsx'
import { EmptyState } from '../../parts/states.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import styles from './blockers.module.css'
import { certainOf, type PlanBlocker, possibleOf, warningsOf } from './plan-blockers.ts'

const namesShown = 6

export function Blockers({ plan }: { readonly plan: PlanAnswer }) {
  const [certain, possible, warned] = [certainOf(plan), possibleOf(plan), warningsOf(plan)]
  return (
    <Card
      title="What is in the way"
      aside={
        <p>
          this cluster, as of <TimeText at={plan.at} />
        </p>
      }
    >
      {certain.length + possible.length + warned.length === 0 && (
        <EmptyState title="Nothing">
          <p>No rehearsal met an obstacle, and every check before the start is passed.</p>
        </EmptyState>
      )}
      <Group title="Certain" note="happens in every run" family="bad" all={certain} />
      <Group title="Possible" note={`in some of ${plan.rehearsals} rehearsals`} family="out" all={possible} />
      <Group title="Worth knowing" family="idle" all={warned} />
    </Card>
  )
}

interface GroupProps {
  readonly title: string
  readonly note?: string
  readonly family: 'bad' | 'out' | 'idle'
  readonly all: readonly PlanBlocker[]
}

const glyphs = { bad: 'Failed', out: 'RequiresAttention', idle: 'why' } as const

function Group({ title, note, family, all }: GroupProps) {
  if (all.length === 0) return null
  return (
    <section aria-label={title}>
      <h3 className={styles.sub}>
        {title} <span>{note}</span>
      </h3>
      <ul>
        {all.map(({ code, message, nodes }) => (
          <li key={`${code} ${message}`} className={classNames(styles.blocker, familyClass(family))}>
            <Glyph name={glyphs[family]} className={styles.mark} />
            <b>{code}</b>
            <span className={`${text.small} ${text.dim}`}>
              {nodes.length > 0 && `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`}
            </span>
            <p>
              <ReasonText message={message} />
            </p>
            {nodes.length > 0 && <Names nodes={nodes} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Names({ nodes }: { readonly nodes: readonly string[] }) {
  return (
    <p className={styles.names}>
      {nodes.slice(0, namesShown).map((node) => (
        <a key={node} href={`#/fleet/${node}`}>
          {node}
        </a>
      ))}
      {nodes.length > namesShown && <span>and {nodes.length - namesShown} more</span>}
    </p>
  )
}
