import { Glyph, type GlyphName } from './glyph.tsx'
import styles from './segments.module.css'

export interface Segment<T extends string> {
  readonly value: T
  readonly label: string
  readonly glyph?: GlyphName
}

export interface SegmentsProps<T extends string> {
  /** What is chosen by it. */
  readonly label: string
  readonly segments: readonly Segment<T>[]
  readonly value: T
  readonly onChange: (value: T) => void
  readonly glyphsOnly?: boolean
}

/** One of a few, all of them seen. */
export function Segments<T extends string>({ label, segments, value, onChange, glyphsOnly = false }: SegmentsProps<T>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring a frame of its own
    <div className={styles.segments} role="group" aria-label={label}>
      {segments.map((segment) => (
        <button
          key={segment.value}
          type="button"
          aria-pressed={segment.value === value}
          aria-label={glyphsOnly ? segment.label : undefined}
          title={glyphsOnly ? segment.label : undefined}
          onClick={() => onChange(segment.value)}
        >
          {segment.glyph && <Glyph name={segment.glyph} className={styles.glyph} />}
          {!glyphsOnly && segment.label}
        </button>
      ))}
    </div>
  )
}
