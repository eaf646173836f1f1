import { useNow } from '../../live/use-now.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { spanText } from '../../parts/instant.ts'
import { PageHead, Screen } from '../../parts/screen.tsx'
import text from '../../parts/text.module.css'
import styles from './rehearsing.module.css'

export interface RehearsingProps {
  /** By the clock of this browser. */
  readonly since: number
  readonly abort: () => void
}

export function Rehearsing({ since, abort }: RehearsingProps) {
  useNow(1_000)
  return (
    <Screen busy>
      <PageHead
        page="Plan"
        title="The update is being rehearsed"
        note="The real operator and agents run it on a copy of this cluster, several times, in virtual time."
      >
        <Button kind="danger" onClick={abort}>
          Stop rehearsing
        </Button>
      </PageHead>
      <Card>
        <div className={styles.body}>
          <progress className={styles.bar} aria-label="Rehearsing" />
          <p className={text.dim}>
            <span role="timer">{spanText(Date.now() - since)}</span> so far. A few nodes take seconds, thousands a
            minute or two. You may look at other pages meanwhile.
          </p>
        </div>
      </Card>
    </Screen>
  )
}
