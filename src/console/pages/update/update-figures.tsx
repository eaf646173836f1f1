import type { UpdateView } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { useNow } from '../../live/use-now.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { clockText, instantText, spanText } from '../../parts/instant.ts'
import { type Family, familyClass } from '../../parts/phase-look.ts'
import { isEnded } from '../../parts/update-look.ts'
import styles from './update-figures.module.css'

export function UpdateFigures({ update }: { readonly update: UpdateView }) {
  const { counts, failuresAllowed, waves, phase } = update
  const cluster = useLive(({ policy }) => policy.budgets[0])
  const left = counts.total - counts.done - counts.failed - counts.skipped
  const percent = counts.total === 0 ? 0 : Math.round((counts.done / counts.total) * 100)
  const open = waves.filter((wave) => wave.nodes > wave.done + wave.failed)
  return (
    <Figures label="Figures of this update">
      <Figure
        name="Progress"
        value={counts.done}
        unit={`of ${counts.total} nodes, ${percent}%`}
        detail={<Stack update={update} />}
      />
      <Ends update={update} />
      <Figure
        name="Under work"
        value={counts.working}
        unit={cluster ? `of ${cluster.used.length} slots in use` : 'nodes'}
        detail={counts.waiting > 0 ? `${counts.waiting} wait` : 'none waits'}
      />
      <Figure
        name="Failures"
        value={counts.failed}
        unit={`of ${failuresAllowed} allowed`}
        detail={counts.skipped > 0 ? `${counts.skipped} left out` : 'none left out'}
      />
      <Figure
        name="Left to do"
        value={isEnded(phase) ? 0 : left}
        unit="nodes"
        detail={
          open.length === 0 || isEnded(phase)
            ? 'no wave is open'
            : open.map((wave) => `${wave.nodes - wave.done - wave.failed} in ${wave.title.toLowerCase()}`).join(', ')
        }
      />
    </Figures>
  )
}

function Ends({ update: { endsAt, finishedAt, startedAt } }: { readonly update: UpdateView }) {
  const now = useNow(60_000)
  if (finishedAt !== undefined) {
    const took = startedAt === undefined ? undefined : spanText(Date.parse(finishedAt) - Date.parse(startedAt))
    return <Figure name="Ended" value={instantText(Date.parse(finishedAt), now)} detail={took && `took ${took}`} />
  }
  if (!endsAt) return <Figure name="Ends, predicted" value="–" detail="nothing measured yet" />
  const [likely, earliest, latest] = [endsAt.likely, endsAt.earliest, endsAt.latest].map((at) => Date.parse(at))
  if (likely === undefined || earliest === undefined || latest === undefined) return null
  return (
    <Figure
      name="Ends, predicted"
      value={`≈ ${clockText(likely, undefined, false)}`}
      unit={dayText(likely, now)}
      detail={`${instantText(earliest, now)}–${instantText(latest, now)}`}
    />
  )
}

/** The day, where it is not today's. */
function dayText(at: number, now: number): string | undefined {
  const text = instantText(at, now)
  return text.includes(' ') ? text.slice(0, text.lastIndexOf(' ')) : undefined
}

function Stack({ update: { counts } }: { readonly update: UpdateView }) {
  const rest = Math.max(0, counts.total - counts.done - counts.failed - counts.working)
  const parts: readonly (readonly [Family, number, string])[] = [
    ['done', counts.done, 'done'],
    ['bad', counts.failed, 'failed'],
    ['work', counts.working, 'under work'],
    ['idle', rest, 'to come'],
  ]
  const said = parts.map(([, count, word]) => `${count} ${word}`).join(', ')
  return (
    <span className={styles.stack} role="img" aria-label={said}>
      {parts.map(([family, count, word]) =>
        count === 0 ? null : (
          <i
            key={word}
            className={`${familyClass(family)} ${family === 'idle' ? styles.hollow : ''}`}
            style={{ flex: count }}
          />
        ),
      )}
    </span>
  )
}
