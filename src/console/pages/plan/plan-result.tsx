import type { PlanAnswer, PlanRequest } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { ActionButton } from '../../parts/action-button.tsx'
import banner from '../../parts/banner.module.css'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { CommandLine } from '../../parts/command-line.tsx'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { spanText } from '../../parts/instant.ts'
import { Chip } from '../../parts/phase-chip.tsx'
import { type Family, familyClass } from '../../parts/phase-look.ts'
import { PageHead, Screen } from '../../parts/screen.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import { updateLook } from '../../parts/update-look.ts'
import { Blockers } from './blockers.tsx'
import { Durations } from './durations.tsx'
import { Order } from './order.tsx'
import { certainOf } from './plan-blockers.ts'
import styles from './plan-result.module.css'
import { Preflight } from './preflight.tsx'

export interface PlanResultProps {
  readonly plan: PlanAnswer
  readonly others: readonly PlanAnswer[]
  readonly onAgain: (request: PlanRequest) => void
}

export function PlanResult({ plan, others, onAgain }: PlanResultProps) {
  const known = useLive((state) => state.updates[plan.update])
  return (
    <Screen>
      <PageHead
        page={`Plan of ${plan.update}`}
        title={
          <span className={styles.title}>
            Plan of {plan.update}{' '}
            {known ? <Chip {...updateLook(known.phase)} /> : <Chip family="idle" glyph="plan" label="Not started" />}
          </span>
        }
        note={
          <div className={styles.path}>
            {plan.from !== undefined && (
              <>
                <b>{plan.from}</b>
                <i className={styles.line} />
              </>
            )}
            <b>{plan.target}</b>
            <span className={`${text.small} ${text.quiet}`}>
              {count(plan.nodes, 'node')}, {count(Math.max(1, plan.waves.length), 'wave')}, planned{' '}
              <TimeText at={plan.at} />
            </span>
          </div>
        }
      >
        <Others plan={plan} others={others} />
        <LinkButton href="#/plan/new">Plan another</LinkButton>
        <Button onClick={() => onAgain(known ? { update: plan.update } : { manifest: plan.manifest })}>
          Plan again
        </Button>
        {known ? (
          <LinkButton kind="primary" href={`#/update/${plan.update}`}>
            Go to {plan.update}
          </LinkButton>
        ) : (
          <Start plan={plan} />
        )}
      </PageHead>
      <Verdict plan={plan} />
      <div className={styles.two}>
        <Blockers plan={plan} />
        <div className={styles.stack}>
          <Durations plan={plan} />
          <Order plan={plan} />
        </div>
      </div>
      <Preflight plan={plan} />
      <Assumptions plan={plan} />
    </Screen>
  )
}

/** What is certain to stop it is not started from here. */
function Start({ plan }: { readonly plan: PlanAnswer }) {
  const hindrances = certainOf(plan).length
  if (hindrances > 0) {
    return (
      <Button kind="primary" disabled title={`${count(hindrances, 'certain blocker')}`}>
        Start now
      </Button>
    )
  }
  return (
    <ActionButton
      kind="primary"
      glyph="play"
      request={{ action: 'create', manifest: plan.manifest }}
      confirm={{
        title: `Start ${plan.update}?`,
        text: `It is created as it was planned and goes on by itself: ${count(plan.nodes, 'node')}, about ${spanText(plan.durationSeconds.expected * 1_000)}. Windows, budgets and approvals hold.`,
        act: 'Start it',
        command: 'kubectl apply -f update.yaml',
      }}
    >
      Start now
    </ActionButton>
  )
}

function Others({ plan, others }: Pick<PlanResultProps, 'plan' | 'others'>) {
  if (others.length < 2) return null
  return (
    <select
      className={styles.chooser}
      aria-label="Which plan"
      value={plan.id}
      onChange={({ target }) => {
        location.hash = `#/plan/${encodeURIComponent(target.value)}`
      }}
    >
      {others.map(({ id, update, target }) => (
        <option key={id} value={id}>
          {update} to {target}
        </option>
      ))}
    </select>
  )
}

const verdicts: Readonly<Record<PlanAnswer['verdict'], { readonly family: Family; readonly glyph: GlyphName }>> = {
  clear: { family: 'done', glyph: 'Done' },
  possiblyBlocked: { family: 'out', glyph: 'RequiresAttention' },
  blocked: { family: 'bad', glyph: 'RequiresAttention' },
}

function Verdict({ plan }: { readonly plan: PlanAnswer }) {
  const blocked = certainOf(plan).length > 0
  const { family, glyph } = verdicts[blocked ? 'blocked' : plan.verdict]
  const { least, expected, most } = plan.durationSeconds
  const [low, mid, high] = [least, expected, most].map((seconds) => spanText(seconds * 1_000))
  return (
    <Card className={classNames(banner.banner, familyClass(family))}>
      <span className={banner.mark}>
        <Glyph name={glyph} />
      </span>
      <div>
        <b className={styles.sentence}>{sentenceOf(plan)}</b>
        <p className={text.dim}>
          {blocked ? 'With that solved it' : 'It'} takes ≈ {mid}
          {low !== high && `, between ${low} and ${high}`} in {count(plan.rehearsals, 'rehearsal')}.
        </p>
      </div>
      <div className={styles.command}>
        <CommandLine command={plan.command} />
        <span className={`${text.small} ${text.quiet}`}>exit {blocked ? 3 : 0}</span>
      </div>
    </Card>
  )
}

function sentenceOf(plan: PlanAnswer): string {
  const sure = certainOf(plan).length
  const possible = plan.blockers.filter(({ certainty }) => certainty === 'possible').length
  if (sure > 0) return `It would not get through: ${count(sure, 'certain blocker')}.`
  if (possible > 0) return `It gets through; ${count(possible, 'thing')} may hold it up.`
  return 'Nothing is in its way.'
}

function Assumptions({ plan: { assumptions } }: { readonly plan: PlanAnswer }) {
  if (assumptions.length === 0) return null
  return (
    <Card title="What it rests on" note="a rehearsal knows the cluster, not the future">
      <ul className={styles.assumptions}>
        {assumptions.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Card>
  )
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
