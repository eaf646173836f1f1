import { classNames } from '../../parts/class-names.ts'
import { Glyph } from '../../parts/glyph.tsx'
import hatch from '../../parts/hatch.module.css'
import { type Family, familyClass } from '../../parts/phase-look.ts'
import text from '../../parts/text.module.css'
import { type FoldedScale, shownPieces } from '../../timeline/folded-scale.ts'
import styles from './gantt.module.css'
import type { GanttRow, Look, Mark } from './gantt-rows.ts'

const families: Readonly<Record<Look, Family>> = {
  done: 'done',
  work: 'work',
  idle: 'idle',
  predicted: 'work',
  soak: 'done',
  'soak-predicted': 'work',
}
/** A letter of the smallest type, in percent of a line of usual width. */
const letterPercent = 0.72
/** A mark without a length is still seen. */
const leastPercent = 1.1
/** Beyond this, what is said of a row stands before its marks. */
const crowdedPercent = 74

interface Piece {
  readonly look: Look
  readonly left: number
  readonly width: number
  readonly text: string | undefined
}

export function GanttLine({ row, scale }: { readonly row: GanttRow; readonly scale: FoldedScale }) {
  const pieces = row.marks.flatMap((mark) => piecesOf(mark, scale))
  const approvals = row.marks.flatMap((mark) => (mark.kind === 'approval' ? [mark] : []))
  const cramped = pieces.flatMap(({ text: words, width }) =>
    words !== undefined && !fits(words, width) ? [words] : [],
  )
  const note = [...cramped.slice(0, 1), ...(row.note === undefined ? [] : [row.note])].join(', ')
  const right = Math.max(
    0,
    ...pieces.map(({ left, width }) => left + width),
    ...approvals.map(({ at }) => scale.at(at) + 1),
  )
  const left = Math.min(...pieces.map((piece) => piece.left), ...approvals.map(({ at }) => scale.at(at) - 1))
  return (
    <li className={styles.line}>
      <span className={text.unseen}>{row.spoken}</span>
      {pieces.map((piece) => (
        <Bar key={`${piece.look} ${piece.left}`} {...piece} />
      ))}
      {approvals.map(({ at, given }) => (
        <span key={at} className={classNames(styles.gate, !given && styles.asked)} style={{ left: `${scale.at(at)}%` }}>
          <Glyph name={given ? 'Done' : 'person'} />
        </span>
      ))}
      {note !== '' && (
        <span
          className={styles.note}
          aria-hidden="true"
          style={right > crowdedPercent ? { right: `${101 - Math.min(left, 99)}%` } : { left: `${right + 1}%` }}
        >
          {note}
        </span>
      )}
    </li>
  )
}

function Bar({ look, left, width, text: words }: Piece) {
  const forecast = look === 'predicted'
  const soak = look === 'soak' || look === 'soak-predicted'
  return (
    <span
      aria-hidden="true"
      className={classNames(
        styles.bar,
        familyClass(families[look]),
        forecast ? hatch.forecast : soak ? styles.soak : styles.fill,
      )}
      style={{ left: `${left}%`, width: `${width}%` }}
    >
      {words !== undefined && fits(words, width) && (forecast ? <span className={styles.words}>{words}</span> : words)}
    </span>
  )
}

function piecesOf(mark: Mark, scale: FoldedScale): readonly Piece[] {
  if (mark.kind === 'approval') return []
  const spans = mark.to > mark.from ? shownPieces(scale, mark) : [mark]
  return spans.map(({ from, to }, index) => ({
    look: mark.look,
    left: scale.at(from),
    width: Math.max(mark.look.startsWith('soak') ? 0 : leastPercent, scale.at(to) - scale.at(from)),
    text: index === 0 ? mark.text : undefined,
  }))
}

function fits(words: string, width: number): boolean {
  return width > words.length * letterPercent + 1.4
}
