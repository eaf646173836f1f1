import type { ChangeEvent } from 'react'
import styles from './find-field.module.css'
import { Glyph } from './glyph.tsx'
import text from './text.module.css'

export interface FindFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The field that `/` leads to: one on a page. */
export function FindField({ label, placeholder, value, onChange }: FindFieldProps) {
  const change = ({ target }: ChangeEvent<HTMLInputElement>) => onChange(target.value)
  return (
    <label className={styles.find}>
      <Glyph name="find" className={styles.glyph} />
      <span className={text.unseen}>{label}</span>
      <input placeholder={placeholder} value={value} onChange={change} data-find="" spellCheck={false} />
      <span aria-hidden="true">
        <kbd>/</kbd>
      </span>
    </label>
  )
}
