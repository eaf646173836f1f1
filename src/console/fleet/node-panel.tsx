// One node: the reason first, then what can be done, its life, its facts.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { NodeDetail, NodeTile, UpdateView } from '../../api/console.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { IconButton, LinkButton } from '../parts/button.tsx'
import { classNames } from '../parts/class-names.ts'
import { CommandLine } from '../parts/command-line.tsx'
import { MissingRights } from '../parts/missing-rights.tsx'
import { PhaseChip } from '../parts/phase-chip.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import { skipConfirmation } from '../parts/skip-confirmation.ts'
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx'
import text from '../parts/text.module.css'
import { SinceAndNext } from '../parts/time-text.tsx'
import { ask } from '../request.ts'
import { LifeList } from './life-list.tsx'
import { isBroken, nodeActions } from './node-actions.ts'
import styles from './node-panel.module.css'
import { placeText, sentence, waveTitle } from './tile-words.ts'

export interface NodePanelProps {
  readonly name: string | undefined
  readonly tile: NodeTile | undefined
  readonly updates: Readonly<Record<string, UpdateView>>
  readonly onClose: () => void
}

export function NodePanel({ name, tile, updates, onClose }: NodePanelProps) {
  if (name === undefined) {
    return (
      <aside className={classNames(styles.panel, styles.none)} aria-label="Selected node">
        <p>
          No node selected.
          <br />
          Arrow keys move, Enter opens.
        </p>
      </aside>
    )
  }
  return (
    <aside className={styles.panel} aria-label={`Node ${name}`}>
      <section>
        <div className={styles.head}>
          <h2 className={styles.name}>{name}</h2>
          {tile && <PhaseChip phase={tile.phase} />}
          <IconButton className={styles.close} glyph="Failed" label="Close panel" onClick={onClose} />
        </div>
        {tile && <div className={classNames(text.small, text.dim)}>{placeText(tile, waveTitle(tile, updates))}</div>}
      </section>
      {tile ? (
        <Node tile={tile} />
      ) : (
        <EmptyState title={`There is no node ${name}`} glyph="find" family="idle">
          <p>It was deleted, or the link is older than the cluster. Choose another on the map.</p>
        </EmptyState>
      )}
    </aside>
  )
}

function Node({ tile }: { readonly tile: NodeTile }) {
  const { name, phase, step, reason, hold } = tile
  const detail = useQuery({
    // Asked again whenever what the tile says changes.
    queryKey: ['node', name, phase, step, reason?.message, reason?.nextCheck, hold],
    queryFn: () => ask<NodeDetail>(`nodes/${encodeURIComponent(name)}`),
    placeholderData: (before, query) => (query?.queryKey[1] === name ? keepPreviousData(before) : undefined),
  })
  return (
    <>
      <section>
        <p className={text.say}>
          <ReasonText message={sentence(tile)} />
        </p>
        <SinceAndNext since={reason?.since ?? tile.since} nextCheck={reason?.nextCheck} otherwise={otherwise(tile)} />
        {hold !== undefined && <p className={text.dim}>On hold: {hold}</p>}
        <NodeActions tile={tile} />
        <CommandLine command={detail.data?.command ?? `slipway why ${name}`} />
      </section>
      {detail.error ? (
        <ErrorState title="The node’s detail cannot be read" error={detail.error} />
      ) : (
        <Detail detail={detail.data} />
      )}
    </>
  )
}

function NodeActions({ tile }: { readonly tile: NodeTile }) {
  const { name, update } = tile
  const nodes = [name]
  const offered = nodeActions(tile)
  return (
    <>
      <div className={text.row}>
        {offered.includes('retry') && (
          <ActionButton small kind="primary" request={{ action: 'retry', update, nodes }}>
            Retry
          </ActionButton>
        )}
        {offered.includes('retry-profile') && (
          <ActionButton small kind="primary" request={{ action: 'retry-profile', profile: tile.profile, nodes }}>
            Retry
          </ActionButton>
        )}
        {update !== undefined && (
          <LinkButton small href={`#/update/${encodeURIComponent(update)}/${encodeURIComponent(name)}`}>
            Steps and log
          </LinkButton>
        )}
        {offered.includes('release') && (
          <ActionButton small request={{ action: 'release', nodes }}>
            Release
          </ActionButton>
        )}
        {offered.includes('hold') && (
          <ActionButton small request={{ action: 'hold', nodes }}>
            Hold
          </ActionButton>
        )}
        {offered.includes('skip') && update !== undefined && (
          <ActionButton small request={{ action: 'skip', update, nodes }} confirm={skipConfirmation(update, nodes)}>
            Skip…
          </ActionButton>
        )}
      </div>
      <MissingRights actions={offered} />
    </>
  )
}

function otherwise(tile: NodeTile): string {
  const { phase, update, profile } = tile
  if (isBroken(tile)) {
    if (update !== undefined) return 'on retry or skip'
    return profile === undefined ? 'when it is released' : 'on retry, or when the profile changes'
  }
  return phase === 'Done' || phase === 'Idle' || phase === 'Skipped' ? 'none' : 'when something changes'
}

function Detail({ detail }: { readonly detail: NodeDetail | undefined }) {
  if (!detail) {
    return (
      <section aria-hidden="true">
        <Skeleton width="40%" />
        <Skeleton height="208px" />
        <Skeleton width="30%" />
        <Skeleton height="96px" />
      </section>
    )
  }
  return (
    <>
      {detail.drain && <Drain drain={detail.drain} />}
      {detail.life.length > 0 && <LifeList life={detail.life} phase={detail.tile.phase} />}
      <section className={styles.last}>
        <h3>Facts</h3>
        <dl className={styles.facts}>
          {detail.facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  )
}

function Drain({ drain }: { readonly drain: NonNullable<NodeDetail['drain']> }) {
  return (
    <section>
      <h3>
        Drain: {drain.total - drain.left} of {drain.total} pods gone
      </h3>
      <ul className={styles.pods}>
        {drain.pods.map(({ pod, state, reason }) => (
          <li key={pod}>
            <b className={text.mono}>{pod}</b> <span className={text.quiet}>{state}</span>
            <p>
              <ReasonText message={reason.message} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
