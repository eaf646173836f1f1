import { useEffect, useState } from 'react'
import { useInMemory } from '../live/use-live.tsx'
import { IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './command-line.module.css'

const looks = {
  ready: { glyph: 'copy', label: 'Copy command' },
  yes: { glyph: 'Done', label: 'Copied' },
  refused: { glyph: 'RequiresAttention', label: 'The browser refuses: mark it and copy by hand' },
} as const

/** Every action shows its command. What is typed does not reach a cluster in memory, so there it is a sample and not to be taken along. */
export function CommandLine({ command }: { readonly command: string }) {
  const isSample = useInMemory()
  const [copied, setCopied] = useState<'yes' | 'refused'>()
  useEffect(() => {
    if (copied === undefined) return
    const timer = setTimeout(() => setCopied(undefined), 1_800)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    navigator.clipboard.writeText(command).then(
      () => setCopied('yes'),
      () => setCopied('refused'),
    )
  }
  return (
    <div className={styles.line}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long command is scrolled by keyboard */}
      <code className={classNames(styles.command, isSample && styles.sample)} tabIndex={0} title={command}>
        {command}
      </code>
      {!isSample && <IconButton {...looks[copied ?? 'ready']} onClick={copy} />}
    </div>
  )
}
