// How many nodes may be away at once and who holds those slots; when work may start in the coming nights.

import { useLive } from '../live/use-live.tsx'
import { ActionButton } from '../parts/action-button.tsx'
import banner from '../parts/banner.module.css'
import { Card } from '../parts/card.tsx'
import { classNames } from '../parts/class-names.ts'
import { CommandLine } from '../parts/command-line.tsx'
import { Glyph } from '../parts/glyph.tsx'
import { familyClass } from '../parts/phase-look.ts'
import { PageHead, Screen } from '../parts/screen.tsx'
import { Skeleton } from '../parts/states.tsx'
import text from '../parts/text.module.css'
import styles from './budget/budget-page.module.css'
import { Budgets } from './budget/budgets.tsx'
import { Calendar } from './budget/calendar.tsx'
import { Holders } from './budget/holders.tsx'
import { Schedules } from './budget/schedules.tsx'
import { slotSentence } from './budget/slot-rows.ts'

export function BudgetPage() {
  const policy = useLive((state) => state.policy)
  if (!policy) return <Loading />
  return (
    <Screen>
      <PageHead
        page="Budget & calendar"
        title={slotSentence(policy.budgets)}
        note={`A slot returns when the node’s agent says so, never by time alone. Ledger epoch ${policy.epoch}.`}
      >
        <div className={styles.edit}>
          <span className={`${text.small} ${text.quiet}`}>Edit policy</span>
          <CommandLine command="kubectl edit maintenancepolicy default" />
        </div>
      </PageHead>
      {policy.paused && <Stopped />}
      <div className={styles.two}>
        <Budgets budgets={policy.budgets} />
        <Holders budgets={policy.budgets} />
      </div>
      <Calendar calendar={policy.calendar} />
      <Schedules />
    </Screen>
  )
}

function Stopped() {
  return (
    <Card className={classNames(banner.banner, familyClass('bad'))}>
      <span className={banner.mark}>
        <Glyph name="stop" />
      </span>
      <div>
        <b>Emergency stop: nothing new starts in the whole cluster.</b>
        <p className={text.dim}>
          What was under work when it was pulled is finished. Windows and schedules count for nothing until it ends.
        </p>
      </div>
      <ActionButton
        kind="primary"
        glyph="play"
        request={{ action: 'go-on-all' }}
        confirm={{
          title: 'End the emergency stop?',
          text: 'What waited goes on at once, as far as windows, budgets and approvals allow.',
          act: 'Go on',
          command: 'slipway start --all',
        }}
      >
        Go on…
      </ActionButton>
    </Card>
  )
}

function Loading() {
  return (
    <Screen busy>
      <PageHead page="Budget & calendar" title={<Skeleton width="320px" />} note={<Skeleton width="420px" />} />
      <div className={styles.two}>
        <Skeleton height="260px" />
        <Skeleton height="260px" />
      </div>
      <Skeleton height="400px" />
    </Screen>
  )
}
