// A button that asks the cluster for something. What the person may not do is not hidden: the button says which right is missing.

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import type { ActionAnswer, ActionRequest } from '../../api/console.ts'
import { send } from '../request.ts'
import { Button, type ButtonLook } from './button.tsx'
import { type Confirmation, ConfirmDialog } from './confirm-dialog.tsx'
import { failedOutcome, useTell } from './outcome.tsx'
import text from './text.module.css'
import { useHindrance } from './use-rights.ts'

export interface ActionButtonProps extends ButtonLook {
  readonly request: ActionRequest
  readonly children: ReactNode
  /** Given: it asks again. */
  readonly confirm?: Confirmation
  readonly className?: string | undefined
  readonly onDone?: (answer: ActionAnswer) => void
}

export function ActionButton({ request, children, confirm, onDone, ...look }: ActionButtonProps) {
  // What was on the button when it was pressed: while the question stands the cluster may put another in its place.
  const [asked, setAsked] = useState<{ readonly request: ActionRequest; readonly confirm: Confirmation }>()
  const [asking, setAsking] = useState(false)
  const tell = useTell()
  const hindrance = useHindrance(request.action)
  const explanation = useId()
  const { mutate, isPending } = useMutation({
    mutationFn: (whole: ActionRequest) => send<ActionAnswer>('actions', whole),
    onSuccess: (answer) => {
      tell({ kind: 'done', answer })
      onDone?.(answer)
    },
    onError: (error) => tell(failedOutcome(error)),
  })
  const click = () => {
    if (hindrance !== undefined) tell({ kind: 'failed', message: hindrance, nextStep: nextStepOf(hindrance) })
    else if (confirm) {
      setAsked({ request, confirm })
      setAsking(true)
    } else mutate(request)
  }
  return (
    <>
      <Button
        {...look}
        onClick={click}
        disabled={isPending}
        aria-disabled={hindrance !== undefined}
        title={hindrance}
        aria-describedby={hindrance === undefined ? undefined : explanation}
      >
        {children}
      </Button>
      {hindrance !== undefined && (
        <span id={explanation} className={text.unseen}>
          {hindrance}
        </span>
      )}
      {asked && (
        <ConfirmDialog
          {...asked.confirm}
          open={asking}
          onClose={() => setAsking(false)}
          onConfirm={(reason) => {
            setAsking(false)
            mutate({ ...asked.request, ...(reason !== undefined && { reason }) })
          }}
        />
      )}
    </>
  )
}

function nextStepOf(hindrance: string): string {
  return hindrance.startsWith('needs the right')
    ? 'ask whoever manages the roles of this cluster, or someone who has the right'
    : 'wait for the link, or start slipway console again'
}
