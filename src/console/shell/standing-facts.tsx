// What stands under every page: the window, the slots, the link, the theme, the emergency stop.

import { useState } from 'react'
import type { PolicyView } from '../../api/console.ts'
import { useLive, usePicture } from '../live/use-live.tsx'
import { useNow } from '../live/use-now.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { classNames } from '../parts/class-names.ts'
import { Glyph, type GlyphName } from '../parts/glyph.tsx'
import { goOnConfirmation } from '../parts/go-on-confirmation.ts'
import { clockText, instantText, spanText } from '../parts/instant.ts'
import { Segments } from '../parts/segments.tsx'
import styles from './standing-facts.module.css'
import { keepTheme, storedTheme, type Theme } from './theme.ts'

export function StandingFacts() {
  const policy = useLive((state) => state.policy)
  return (
    <div className={styles.facts}>
      <WindowFact policy={policy} />
      <Fact glyph="slots">{policy ? slotsText(policy) : '…'}</Fact>
      <LinkFact />
      <ThemeSwitch />
      <EmergencyStop paused={policy?.paused ?? false} />
    </div>
  )
}

function WindowFact({ policy }: { readonly policy: PolicyView | undefined }) {
  const now = useNow(15_000)
  return <Fact glyph="clock">{policy ? windowText(policy.window, now) : '…'}</Fact>
}

export function windowText({ open, until, always }: PolicyView['window'], nowMs: number): string {
  if (open && always) return 'Window: always open'
  if (open) return until === undefined ? 'Window: open' : `Window: ${spanText(Date.parse(until) - nowMs)} left`
  if (until === undefined) return 'Window: none opens'
  // Where no window is declared only a freeze closes.
  return `${always ? 'Frozen until' : 'Opens'} ${instantText(Date.parse(until), nowMs)}`
}

/** The first budget is the one of the whole cluster. */
export function slotsText({ budgets }: PolicyView): string {
  const [whole] = budgets
  return whole ? `${whole.used.length} of ${whole.limit} slots in use` : 'no budget'
}

function LinkFact() {
  const { link, lostAt, state } = usePicture()
  const now = useNow(1_000)
  if (link === 'connecting') return <Fact glyph="live">Connecting</Fact>
  if (link === 'lost') return <Fact glyph="offline">Lost {lostAt !== undefined && spanText(now - lostAt)} ago</Fact>
  if (state?.trouble) {
    const span = spanText(now - Date.parse(state.trouble.since))
    return <Fact glyph="offline">{state.trouble.answers ? `Nothing new for ${span}` : `API lost ${span} ago`}</Fact>
  }
  return (
    <Fact glyph="live" className={styles.live}>
      Live, {clockText(now)}
    </Fact>
  )
}

interface FactProps {
  readonly glyph: GlyphName
  readonly className?: string | undefined
  readonly children: React.ReactNode
}

function Fact({ glyph, className, children }: FactProps) {
  return (
    <div className={classNames(styles.fact, className)}>
      <Glyph name={glyph} className={styles.glyph} />
      <span className={styles.word}>{children}</span>
    </div>
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(storedTheme)
  return (
    <div className={styles.theme}>
      <Segments
        label="Theme"
        glyphsOnly
        value={theme}
        segments={[
          { value: 'light', label: 'Light', glyph: 'sun' },
          { value: 'dark', label: 'Dark', glyph: 'moon' },
          { value: 'system', label: 'As the system', glyph: 'system' },
        ]}
        onChange={(next) => {
          keepTheme(next)
          setTheme(next)
        }}
      />
    </div>
  )
}

function EmergencyStop({ paused }: { readonly paused: boolean }) {
  const cluster = useLive((state) => state.cluster.name) ?? 'this cluster'
  if (paused) {
    return (
      <ActionButton
        request={{ action: 'go-on-all' }}
        glyph="play"
        className={classNames(styles.stop, styles.stopped)}
        confirm={goOnConfirmation(cluster)}
      >
        <span className={styles.word}>Stopped: go on…</span>
      </ActionButton>
    )
  }
  return (
    <ActionButton
      request={{ action: 'stop-all' }}
      kind="danger"
      glyph="stop"
      className={styles.stop}
      confirm={{
        title: `Stop everything in ${cluster}?`,
        text: 'Nothing new starts anywhere in this cluster. What is under way on a node ends; no other node is taken.',
        act: 'Stop everything',
        command: 'slipway stop --all',
      }}
    >
      <span className={styles.word}>Emergency stop</span>
    </ActionButton>
  )
}
