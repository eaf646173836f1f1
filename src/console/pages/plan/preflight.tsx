import type { PlanAnswer } from '../../../api/console.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { type Family, familyClass } from '../../parts/phase-look.ts'
import text from '../../parts/text.module.css'
import styles from './preflight.module.css'

interface Look {
  readonly family: Family
  readonly glyph: GlyphName
  readonly word: string
}

const looks: Readonly<Record<string, Look>> = {
  Passed: { family: 'done', glyph: 'Done', word: 'passed' },
  Warning: { family: 'out', glyph: 'RequiresAttention', word: 'warns' },
  Failed: { family: 'bad', glyph: 'Failed', word: 'fails' },
  Unknown: { family: 'idle', glyph: 'why', word: 'unknown' },
  Skipped: { family: 'idle', glyph: 'Skipped', word: 'left out' },
}
const other: Look = { family: 'idle', glyph: 'why', word: 'unknown' }

export function Preflight({ plan: { preflight } }: { readonly plan: PlanAnswer }) {
  if (preflight.length === 0) return null
  return (
    <Card title="Preflight" note={summary(preflight)}>
      <ul className={styles.checks}>
        {preflight.map(({ check, result, message }) => {
          const { family, glyph, word } = looks[result] ?? other
          return (
            <li key={check} className={classNames(styles.check, familyClass(family))} title={message}>
              <Glyph name={glyph} className={styles.mark} />
              {check}
              <span className={text.unseen}>{word}:</span>
              <span className={styles.message}>{message}</span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function summary(preflight: PlanAnswer['preflight']): string {
  const words = Object.entries(looks).flatMap(([result, { word }]) => {
    const found = preflight.filter((one) => one.result === result).length
    return found === 0 ? [] : [`${found} ${word}`]
  })
  return `${preflight.length} checks: ${words.join(', ')}`
}
