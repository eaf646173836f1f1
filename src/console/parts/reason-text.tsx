import { asOffered } from '../../api/console-words.ts'
import { useInMemory } from '../live/use-live.tsx'
import { reasonPieces } from './reason-pieces.ts'
import styles from './reason-text.module.css'

/** A message of the catalogue, as text; the names in it stand out. */
export function ReasonText({ message }: { readonly message: string }) {
  const said = useInMemory() ? asOffered(message) : message
  return reasonPieces(said).map(({ kind, text }, at) =>
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
