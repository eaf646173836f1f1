import type { ComponentProps } from 'react'
import styles from './button.module.css'
import { classNames } from './class-names.ts'
import { Glyph, type GlyphName } from './glyph.tsx'

export type ButtonKind = 'primary' | 'secondary' | 'danger' | 'ghost'

export interface ButtonLook {
  readonly kind?: ButtonKind
  readonly small?: boolean
  readonly glyph?: GlyphName
}

export function Button({
  kind = 'secondary',
  small = false,
  glyph,
  className,
  children,
  ...rest
}: ButtonLook & ComponentProps<'button'>) {
  return (
    <button type="button" {...rest} className={classNames(buttonClass(kind, small), className)}>
      {glyph && <Glyph name={glyph} className={styles.glyph} />}
      {children}
    </button>
  )
}

/** A link that looks like a button: it leads somewhere, a button does something. */
export function LinkButton({
  kind = 'secondary',
  small = false,
  glyph,
  children,
  ...rest
}: ButtonLook & ComponentProps<'a'>) {
  return (
    <a {...rest} className={buttonClass(kind, small)}>
      {glyph && <Glyph name={glyph} className={styles.glyph} />}
      {children}
    </a>
  )
}

export interface IconButtonProps extends ComponentProps<'button'> {
  readonly glyph: GlyphName
  readonly label: string
}

export function IconButton({ glyph, label, className, ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={classNames(styles.icon, className)} aria-label={label} title={label}>
      <Glyph name={glyph} className={styles.glyph} />
    </button>
  )
}

function buttonClass(kind: ButtonKind, small: boolean): string {
  return classNames(styles.button, styles[kind], small && styles.small)
}
