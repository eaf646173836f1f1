import { useLive } from '../../live/use-live.tsx'
import { LinkButton } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CommandLine } from '../../parts/command-line.tsx'
import { spanText } from '../../parts/instant.ts'
import { Chip } from '../../parts/phase-chip.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import { updateLook } from '../../parts/update-look.ts'
import { address } from '../../request.ts'
import styles from './run-card.module.css'
import type { RunRow } from './run-rows.ts'

/** One run, with the way to its update and its report. */
export function RunCard({ run }: { readonly run: RunRow }) {
  const update = useLive((state) => state.updates[run.update])
  return (
    <Card
      title={`Run of ${run.update}`}
      note={<span className={text.mono}>{run.operationID}</span>}
      aside={
        <LinkButton small kind="ghost" href="#/history">
          Close
        </LinkButton>
      }
    >
      <div className={styles.body}>
        <dl className={styles.facts}>
          <div>
            <dt>Result</dt>
            <dd>
              <Chip {...updateLook(run.phase)} />
            </dd>
          </div>
          <div>
            <dt>Started</dt>
            <dd>
              <TimeText at={run.startedAt} />
            </dd>
          </div>
          <div>
            <dt>Took</dt>
            <dd>{run.tookSeconds === undefined ? 'unknown' : spanText(run.tookSeconds * 1_000)}</dd>
          </div>
          <div>
            <dt>Predicted</dt>
            <dd>
              {run.predictedSeconds === undefined
                ? 'not planned before'
                : `≈ ${spanText(run.predictedSeconds * 1_000)}`}
            </dd>
          </div>
          <div>
            <dt>Asked for by</dt>
            <dd>{run.askedBy ?? 'unknown'}</dd>
          </div>
          <div>
            <dt>Nodes</dt>
            <dd>
              {run.nodes ?? '–'}
              {run.failed !== undefined && run.failed > 0 && `, ${run.failed} failed`}
            </dd>
          </div>
        </dl>
        {update ? (
          <div className={text.row}>
            <LinkButton glyph="bars" href={`#/update/${run.update}`}>
              Go to the update
            </LinkButton>
            <LinkButton glyph="download" href={address(`report/${encodeURIComponent(run.update)}.json`)}>
              Download the report
            </LinkButton>
            <div className={styles.command}>
              <CommandLine command={`slipway status ${run.update}`} />
            </div>
          </div>
        ) : (
          <p className={text.dim}>The update was deleted since: no more is known of it than this.</p>
        )}
      </div>
    </Card>
  )
}
