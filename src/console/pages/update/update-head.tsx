import { useLocation } from 'wouter'
import type { ConsoleAction, UpdateView } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { ActionButton } from '../../parts/action-button.tsx'
import { MissingRights } from '../../parts/missing-rights.tsx'
import { Chip } from '../../parts/phase-chip.tsx'
import { PageHead } from '../../parts/screen.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import { updateLook } from '../../parts/update-look.ts'
import { askingWave, offeredActions } from './update-actions.ts'
import styles from './update-head.module.css'
import { VersionPath } from './version-path.tsx'

export interface UpdateHeadProps {
  readonly update: UpdateView
  readonly all: readonly UpdateView[]
}

export function UpdateHead({ update, all }: UpdateHeadProps) {
  const { name, phase, startedAt, finishedAt, askedBy } = update
  const window = useLive(({ policy }) => policy.window)
  const offered = offeredActions(update, window)
  return (
    <PageHead
      page={name}
      title={
        <span className={styles.title}>
          {name} <Chip {...updateLook(phase)} />
        </span>
      }
      note={
        <>
          <p className={`${text.small} ${text.quiet}`}>
            DirectUpdate
            {startedAt !== undefined && (
              <>
                , started <TimeText at={startedAt} />
              </>
            )}
            {finishedAt !== undefined && (
              <>
                , ended <TimeText at={finishedAt} />
              </>
            )}
            , asked for by {askedBy ?? 'unknown'}
          </p>
          <VersionPath update={update} />
          <MissingRights actions={offered} />
        </>
      }
    >
      {all.length > 1 && <Chooser update={update} all={all} />}
      <Actions update={update} offered={offered} />
    </PageHead>
  )
}

function Chooser({ update, all }: UpdateHeadProps) {
  const [, go] = useLocation()
  return (
    <select
      className={styles.chooser}
      aria-label="Which update"
      value={update.name}
      onChange={({ target }) => go(`/update/${target.value}`)}
    >
      {all.map(({ name, phase }) => (
        <option key={name} value={name}>
          {name}, {updateLook(phase).label}
        </option>
      ))}
    </select>
  )
}

interface ActionsProps {
  readonly update: UpdateView
  readonly offered: readonly ConsoleAction[]
}

function Actions({ update, offered }: ActionsProps) {
  const { name } = update
  return (
    <>
      {offered.includes('run-now') && (
        <ActionButton
          glyph="clock"
          request={{ action: 'run-now', update: name }}
          confirm={{
            title: `Run ${name} now?`,
            text: 'It goes on outside of its windows and in spite of freezes. Budgets, gates and approvals hold as before. Who wanted it and why is kept with it.',
            act: 'Run now',
            asksReason: true,
            command: `slipway run-now ${name} --reason …`,
          }}
        >
          Run now…
        </ActionButton>
      )}
      {offered.includes('retry') && (
        <ActionButton glyph="RollingBack" request={{ action: 'retry', update: name }}>
          Retry failed
        </ActionButton>
      )}
      {offered.includes('pause') && (
        <ActionButton glyph="pause" request={{ action: 'pause', update: name }}>
          Pause
        </ActionButton>
      )}
      {offered.includes('resume') && (
        <ActionButton glyph="play" kind="primary" request={{ action: 'resume', update: name }}>
          Resume
        </ActionButton>
      )}
      {offered.includes('cancel') && (
        <ActionButton
          kind="danger"
          request={{ action: 'cancel', update: name }}
          confirm={{
            title: `Cancel ${name}?`,
            text: 'Nothing new starts, nodes that only drain are put back, nodes that have begun are finished. It cannot be taken up again: make another update instead.',
            act: 'Cancel the update',
            command: `slipway cancel ${name}`,
          }}
        >
          Cancel…
        </ActionButton>
      )}
      {offered.includes('approve') && (
        <ActionButton kind="primary" glyph="Done" request={{ action: 'approve', update: name }}>
          Approve {approved(update, askingWave(update))}
        </ActionButton>
      )}
    </>
  )
}

/** What may begin by it is the wave after the one that asks. */
function approved({ waves }: UpdateView, asked: number): string {
  const next = waves[asked + 1]?.title ?? 'the next wave'
  return next.charAt(0).toLowerCase() + next.slice(1)
}
