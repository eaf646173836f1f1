import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './command-line.module.css'

const looks = {
  ready: { glyph: 'copy', label: 'Copy command' },
  yes: { glyph: 'Done', label: 'Copied' },
  refused: { glyph: 'RequiresAttention', label: 'The browser refuses: mark it and copy by hand' },
} as const

/** Every action shows its command. */
export function CommandLine({ command }: { readonly command: string }) {
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
      <code className={styles.command} tabIndex={0} title={command}>
        {command}
      </code>
      <IconButton {...looks[copied ?? 'ready']} onClick={copy} />
    </div>
  )
}
