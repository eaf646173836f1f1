// The steps of one node, and what they wrote. The log is asked for again while it is followed and the node moves.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { NodeDetail, NodeLog, NodeTile, StepView } from '../../../api/console.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Button, IconButton } from '../../parts/button.tsx'
import { classNames } from '../../parts/class-names.ts'
import { CommandLine } from '../../parts/command-line.tsx'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { clockText, spanText } from '../../parts/instant.ts'
import { type Family, familyClass } from '../../parts/phase-look.ts'
import { ReasonText } from '../../parts/reason-text.tsx'
import { skipConfirmation } from '../../parts/skip-confirmation.ts'
import { ErrorState } from '../../parts/states.tsx'
import text from '../../parts/text.module.css'
import { ask } from '../../request.ts'
import styles from './node-drawer.module.css'

const followMs = 2_000

export function NodeDrawer({ tile, onClose }: { readonly tile: NodeTile; readonly onClose: () => void }) {
  const { name, phase, step, since, update } = tile
  const [follow, setFollow] = useState(true)
  const [only, setOnly] = useState<string>()
  const moves = phase !== 'Done' && phase !== 'Skipped' && phase !== 'Idle'
  const again = { refetchInterval: follow && moves ? followMs : (false as const), placeholderData: keep }
  const detail = useQuery({
    queryKey: ['node', name, phase, step, since],
    queryFn: () => ask<NodeDetail>(`nodes/${encodeURIComponent(name)}`),
    ...again,
  })
  const log = useQuery({
    queryKey: ['log', name, only],
    queryFn: () =>
      ask<NodeLog>(`nodes/${encodeURIComponent(name)}/log${only ? `?step=${encodeURIComponent(only)}` : ''}`),
    ...again,
  })
  useEscape(onClose)
  const steps = detail.data?.steps ?? []
  const broken = phase === 'Failed' || phase === 'RequiresAttention'
  return (
    <section className={styles.drawer} aria-label={`Steps and log of ${name}`}>
      <header className={styles.head}>
        <b className={text.mono}>{name}</b>
        <span className={`${text.small} ${text.dim}`}>{whereText(steps, phase)}</span>
        <span className={styles.right}>
          <Button
            small
            kind="ghost"
            glyph={follow ? 'live' : 'pause'}
            aria-pressed={follow}
            onClick={() => setFollow(!follow)}
          >
            Follow
          </Button>
          <IconButton glyph="Failed" label="Close steps and log" onClick={onClose} />
        </span>
      </header>
      {tile.reason && (
        <p className={styles.say}>
          <ReasonText message={tile.reason.message} />
        </p>
      )}
      {detail.data?.drain && detail.data.drain.pods.length > 0 && <Pods drain={detail.data.drain} />}
      <Steps steps={steps} only={only} onOnly={setOnly} />
      {log.error ? (
        <ErrorState title="The log could not be read" error={log.error} />
      ) : (
        <Log log={log.data} node={name} follow={follow} />
      )}
      <footer className={styles.foot}>
        {update !== undefined && moves && (
          <>
            {broken && (
              <ActionButton small glyph="RollingBack" request={{ action: 'retry', update, nodes: [name] }}>
                Retry this node
              </ActionButton>
            )}
            <ActionButton
              small
              request={{ action: 'skip', update, nodes: [name] }}
              confirm={skipConfirmation(update, [name])}
            >
              Skip…
            </ActionButton>
          </>
        )}
        <div className={styles.command}>
          <CommandLine command={log.data?.command ?? `slipway logs ${name}`} />
        </div>
      </footer>
    </section>
  )
}

const looks: Readonly<
  Record<StepView['state'], { readonly glyph: GlyphName; readonly family: Family; readonly word: string }>
> = {
  Pending: { glyph: 'Pending', family: 'idle', word: 'to come' },
  Running: { glyph: 'Working', family: 'work', word: 'runs' },
  Succeeded: { glyph: 'Done', family: 'done', word: 'done' },
  Failed: { glyph: 'Failed', family: 'bad', word: 'failed' },
}

interface StepsProps {
  readonly steps: readonly StepView[]
  readonly only: string | undefined
  readonly onOnly: (step: string | undefined) => void
}

/** A step chosen shows its lines alone. */
function Steps({ steps, only, onOnly }: StepsProps) {
  if (steps.length === 0) return null
  return (
    <ol className={styles.steps} aria-label="Steps">
      {steps.map((step) => {
        const { glyph, family, word } = looks[step.state]
        return (
          <li key={step.name}>
            <button
              type="button"
              aria-pressed={only === step.name}
              className={classNames(styles.step, familyClass(family))}
              onClick={() => onOnly(only === step.name ? undefined : step.name)}
            >
              <Glyph name={glyph} className={styles.mark} />
              <span>{step.name}</span>
              <span className={text.quiet}>{took(step) ?? word}</span>
              {step.reason && (
                <span className={styles.why}>
                  <ReasonText message={step.reason.message} />
                </span>
              )}
            </button>
          </li>
        )
      })}
    </ol>
  )
}

function Pods({ drain }: { readonly drain: NonNullable<NodeDetail['drain']> }) {
  return (
    <ul className={styles.pods} aria-label={`${drain.left} of ${drain.total} pods are left`}>
      {drain.pods.map(({ pod, state, reason }) => (
        <li key={pod}>
          <span className={text.mono}>{pod}</span> <span className={text.quiet}>{state}</span>
          <span className={styles.why}>
            <ReasonText message={reason.message} />
          </span>
        </li>
      ))}
    </ul>
  )
}

interface LogProps {
  readonly log: NodeLog | undefined
  readonly node: string
  readonly follow: boolean
}

function Log({ log, node, follow }: LogProps) {
  const place = useRef<HTMLDivElement>(null)
  const entries = log?.entries ?? []
  const size = entries.reduce((sum, entry) => sum + entry.text.length, entries.length)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the growth of the log that scrolls it
  useEffect(() => {
    if (follow && place.current) place.current.scrollTop = place.current.scrollHeight
  }, [size, follow])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long log is scrolled by keyboard
    <div ref={place} className={styles.log} role="log" aria-label={`Log of ${node}`} tabIndex={0}>
      {log && entries.length === 0 && <p>Nothing was written yet.</p>}
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a log only grows
        <div key={index} className={styles.entry}>
          <span className={text.quiet}>{entry.at === undefined ? entry.step : clockText(Date.parse(entry.at))}</span>
          <span>{entry.text}</span>
        </div>
      ))}
    </div>
  )
}

function whereText(steps: readonly StepView[], phase: string): string {
  const at = steps.findIndex(({ state }) => state === 'Running' || state === 'Failed')
  return at < 0 ? phase : `${steps[at]?.name}, step ${at + 1} of ${steps.length}`
}

function took({ startedAt, finishedAt }: StepView): string | undefined {
  if (startedAt === undefined || finishedAt === undefined) return undefined
  return spanText(Date.parse(finishedAt) - Date.parse(startedAt))
}

/** What was there stays until the next answer: nothing jumps. */
function keep<T>(before: T | undefined): T | undefined {
  return before
}

function useEscape(close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useEffect(() => {
    const listen = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented && !document.querySelector('[role="alertdialog"]')) latest.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}
