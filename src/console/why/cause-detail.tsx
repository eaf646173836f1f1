// One cause: the sentence, since when, because of what, what it holds up, and what can be done.

import type { CauseView, NodeTile } from '../../api/console.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { classNames } from '../parts/class-names.ts'
import { CommandLine } from '../parts/command-line.tsx'
import { Glyph } from '../parts/glyph.tsx'
import { MissingRights } from '../parts/missing-rights.tsx'
import { PhaseChip } from '../parts/phase-chip.tsx'
import { familyClass } from '../parts/phase-look.ts'
import { ReasonText } from '../parts/reason-text.tsx'
import text from '../parts/text.module.css'
import { SinceAndNext, TimeText } from '../parts/time-text.tsx'
import { causeActions } from './cause-actions.ts'
import styles from './cause-detail.module.css'
import { causeLook, linkGlyph } from './cause-look.ts'

export interface CauseDetailProps {
  readonly cause: CauseView
  readonly nodes: Readonly<Record<string, NodeTile>>
}

const shownNodes = 24

export function CauseDetail({ cause, nodes }: CauseDetailProps) {
  const { family, phase } = causeLook(cause, nodes)
  return (
    <Card
      className={classNames(styles.card, familyClass(family))}
      title={cause.title}
      aside={phase && <PhaseChip phase={phase} />}
    >
      <div className={styles.body}>
        <p className={text.say}>
          <ReasonText message={cause.message} />
        </p>
        <SinceAndNext since={cause.since} nextCheck={cause.nextCheck} />
        {cause.because.length > 0 && <Chain because={cause.because} />}
        <HoldsUp cause={cause} />
        {cause.nextStep !== undefined && (
          <div>
            <h3 className={text.label}>What to do</h3>
            <p>
              <ReasonText message={cause.nextStep} />
            </p>
          </div>
        )}
        <Actions cause={cause} nodes={nodes} />
        <CommandLine command={cause.command} />
      </div>
    </Card>
  )
}

function Chain({ because }: { readonly because: CauseView['because'] }) {
  return (
    <div>
      <h3 className={classNames(text.label, styles.because)}>Because</h3>
      <ol className={styles.chain}>
        {because.map(({ what, detail, since }, at) => (
          <li key={what}>
            <span className={styles.mark}>
              <Glyph name={linkGlyph(what, at === because.length - 1 && at > 0)} />
            </span>
            <div>
              <b>
                <ReasonText message={what} />
              </b>
              <small>
                <ReasonText message={detail} />
              </small>
            </div>
            {since !== undefined && <TimeText at={since} />}
          </li>
        ))}
      </ol>
    </div>
  )
}

function HoldsUp({ cause: { nodes, nodeCount, updates, profiles } }: { readonly cause: CauseView }) {
  if (nodes.length === 0 && updates.length === 0 && profiles.length === 0) return null
  return (
    <dl className={styles.pair}>
      <div>
        <dt className={text.label}>Holds up</dt>
        <dd className={styles.links}>
          {updates.length === 0 && profiles.length === 0 && 'no update'}
          {updates.map((update) => (
            <a key={update} href={`#/update/${encodeURIComponent(update)}`}>
              {update}
            </a>
          ))}
          {profiles.map((profile) => (
            <span key={profile}>profile {profile}</span>
          ))}
        </dd>
      </div>
      {nodes.length > 0 && (
        <div>
          <dt className={text.label}>Nodes</dt>
          <dd className={styles.links}>
            {nodes.slice(0, shownNodes).map((node) => (
              <a key={node} href={`#/fleet/${encodeURIComponent(node)}`}>
                {node}
              </a>
            ))}
            {nodeCount > shownNodes && (
              <span className={classNames(text.dim, text.small)}>
                and {(nodeCount - shownNodes).toLocaleString('en')} more
              </span>
            )}
          </dd>
        </div>
      )}
    </dl>
  )
}

function Actions({ cause, nodes }: CauseDetailProps) {
  const actions = causeActions(cause, nodes)
  const [node] = cause.nodes
  const [update] = cause.updates
  const budget = /Budget/.test(cause.code)
  const log = cause.nodes.length === 1 && node !== undefined && update !== undefined
  if (actions.length === 0 && !budget && !log) return null
  return (
    <div className={styles.actions}>
      <div className={text.row}>
        {actions.map(({ label, ...action }, at) => (
          <ActionButton
            key={label}
            kind={at === 0 && cause.waitsFor === 'Person' ? 'primary' : 'secondary'}
            {...action}
          >
            {label}
          </ActionButton>
        ))}
        {log && (
          <LinkButton href={`#/update/${encodeURIComponent(update)}/${encodeURIComponent(node)}`}>
            Steps and log
          </LinkButton>
        )}
        {budget && <LinkButton href="#/budget">Show budget</LinkButton>}
      </div>
      <MissingRights actions={actions.map(({ request }) => request.action)} />
    </div>
  )
}
