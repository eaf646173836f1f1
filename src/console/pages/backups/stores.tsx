import type { StoreView } from '../../../api/console.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { CommandLine } from '../../parts/command-line.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Chip } from '../../parts/phase-chip.tsx'
import { familyClass } from '../../parts/phase-look.ts'
import { ReasonText } from '../../parts/reason-text.tsx'
import text from '../../parts/text.module.css'
import { NextCheck, TimeText } from '../../parts/time-text.tsx'
import { sizeText } from './backup-rows.ts'
import styles from './stores.module.css'

const kinds = { path: 'a folder of the hosts', nfs: 'NFS', s3: 'S3', gcs: 'Google Cloud Storage' } as const

export function Stores({ stores }: { readonly stores: readonly StoreView[] }) {
  return (
    <div className={styles.stores}>
      {stores.map((store) => (
        <Store key={store.name} store={store} />
      ))}
    </div>
  )
}

function Store({ store: { name, kind, encrypted, schedule, next, last, problem } }: { readonly store: StoreView }) {
  return (
    <Card
      title={name}
      note={kinds[kind]}
      aside={
        encrypted ? (
          <Chip family="idle" glyph="shield" label="Encrypted" />
        ) : (
          <Chip family="out" glyph="RequiresAttention" label="Not encrypted" />
        )
      }
    >
      <div className={styles.body}>
        {problem && (
          <p className={classNames(styles.problem, familyClass('bad'))}>
            <Glyph name="Failed" className={styles.mark} />
            <span>
              <ReasonText message={problem.message} />
            </span>
          </p>
        )}
        <dl className={styles.facts}>
          <dt>Last</dt>
          <dd>
            {last === undefined ? (
              'none yet'
            ) : (
              <>
                <TimeText at={last.at} ago />
                {last.bytes !== undefined && <span className={text.dim}>, {sizeText(last.bytes)}</span>}
              </>
            )}
          </dd>
          <dt>Schedule</dt>
          <dd>{schedule ?? 'none: before updates only'}</dd>
          <dt>Next</dt>
          <dd>{next === undefined ? '–' : <NextCheck at={next} />}</dd>
        </dl>
        <CommandLine command={`slipway backup create --store ${name}`} />
      </div>
    </Card>
  )
}
