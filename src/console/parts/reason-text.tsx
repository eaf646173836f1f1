import { reasonPieces } from './reason-pieces.ts'
import styles from './reason-text.module.css'

/** A message of the catalogue, as text; the names in it stand out. */
export function ReasonText({ message }: { readonly message: string }) {
  return reasonPieces(message).map(({ kind, text }, at) =>
    kind === 'name' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place in the sentence
      <span key={at} className={styles.name}>
        {text}
      </span>
    ) : (
      text
    ),
  )
}
