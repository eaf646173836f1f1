// Asks again before what cannot be taken back easily. The button that acts is never the one in focus.

import { AlertDialog } from '@base-ui/react/alert-dialog'
import { type ReactNode, useId, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { CommandLine } from './command-line.tsx'
import styles from './confirm-dialog.module.css'

export interface Confirmation {
  readonly title: string
  /** What will happen, and what will not. */
  readonly text: ReactNode
  /** On the button: says what it does. */
  readonly act: string
  readonly command?: string
  /** Asks for a reason, which is kept with what is done. */
  readonly asksReason?: boolean
}

export interface ConfirmDialogProps extends Confirmation {
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: (reason: string | undefined) => void
}

export function ConfirmDialog({
  title,
  text,
  act,
  command,
  asksReason = false,
  open,
  onClose,
  onConfirm,
}: ConfirmDialogProps) {
  const [given, setGiven] = useState('')
  const back = useRef<HTMLButtonElement>(null)
  const field = useId()
  const words = given.trim()
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.dialog} initialFocus={back}>
          <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className={styles.text}>
            {text}
          </AlertDialog.Description>
          {asksReason && (
            <label className={styles.reason} htmlFor={field}>
              Reason
              <input id={field} value={given} maxLength={256} onChange={({ target }) => setGiven(target.value)} />
            </label>
          )}
          {command !== undefined && <CommandLine command={command} />}
          <div className={styles.buttons}>
            <Button ref={back} onClick={onClose}>
              Go back
            </Button>
            <Button
              kind="primary"
              disabled={asksReason && words === ''}
              onClick={() => onConfirm(words === '' ? undefined : words)}
            >
              {act}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
