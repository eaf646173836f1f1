// What became of the last action, in a bar over the foot of the page: nothing moves, and it stays until it is read.

import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { ActionAnswer } from '../../api/console.ts'
import { RequestFailed } from '../request.ts'
import { IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import { CommandLine } from './command-line.tsx'
import { Glyph } from './glyph.tsx'
import styles from './outcome.module.css'
import { familyClass } from './phase-look.ts'
import { ReasonText } from './reason-text.tsx'

export type Outcome =
  | { readonly kind: 'done'; readonly answer: ActionAnswer }
  | { readonly kind: 'failed'; readonly message: string; readonly nextStep: string }

const TellContext = createContext<(outcome: Outcome | undefined) => void>(() => undefined)

export function useTell(): (outcome: Outcome | undefined) => void {
  return useContext(TellContext)
}

export function failedOutcome(error: unknown): Outcome {
  if (error instanceof RequestFailed) return { kind: 'failed', message: error.message, nextStep: error.nextStep }
  return { kind: 'failed', message: String(error), nextStep: 'load the page again' }
}

export function OutcomeProvider({ children }: { readonly children: ReactNode }) {
  const [outcome, tell] = useState<Outcome>()
  const close = useMemo(() => () => tell(undefined), [])
  return (
    <TellContext value={tell}>
      {children}
      <div role="status" aria-label="What became of your action" className={styles.place}>
        {outcome && <OutcomeBar outcome={outcome} onClose={close} />}
      </div>
    </TellContext>
  )
}

function OutcomeBar({ outcome, onClose }: { readonly outcome: Outcome; readonly onClose: () => void }) {
  const done = outcome.kind === 'done'
  return (
    <div className={classNames(styles.bar, familyClass(done ? 'done' : 'bad'))}>
      <Glyph name={done ? 'Done' : 'RequiresAttention'} className={styles.mark} />
      <div className={styles.words}>
        <ReasonText message={done ? outcome.answer.message : outcome.message} />
        {!done && (
          <span className={styles.next}>
            {' '}
            Next: <ReasonText message={outcome.nextStep} />
          </span>
        )}
      </div>
      {done && <CommandLine command={outcome.answer.command} />}
      <IconButton glyph="Failed" label="Close" onClick={onClose} />
    </div>
  )
}
