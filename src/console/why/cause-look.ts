// The glyph of a cause and of each link of its chain: by what it speaks of. Its colour is the phase of what waits.

import type { CauseView, NodeTile } from '../../api/console.ts'
import type { GlyphName } from '../parts/glyph.tsx'
import { type PhaseLook, phaseLook } from '../parts/phase-look.ts'

const subjects: readonly (readonly [RegExp, GlyphName])[] = [
  [/PodDisruptionBudget|\bPDB\b|disruption/i, 'shield'],
  [/slot|budget/i, 'slots'],
  [/window|freeze|frozen|calendar/i, 'calendar'],
  [/approv|person|user|cordoned by|hold/i, 'person'],
  [/\bpods?\b/i, 'pod'],
  [/\bjob\b|soak|until|minutes?|time/i, 'clock'],
  [/gate|health|ready/i, 'Verifying'],
  [/wave|update/i, 'bars'],
  [/\bnode\b/i, 'grid'],
  [/drain/i, 'Draining'],
]

const byActor: Readonly<Record<CauseView['waitsFor'], GlyphName>> = { Person: 'person', Cluster: 'why', Clock: 'clock' }

export interface CauseLook extends Pick<PhaseLook, 'family'> {
  readonly glyph: GlyphName
  readonly phase: NodeTile['phase'] | undefined
}

export function causeLook(cause: CauseView, nodes: Readonly<Record<string, NodeTile>>): CauseLook {
  const phase = nodes[cause.nodes[0] ?? '']?.phase
  const look = phase && phaseLook(phase)
  const broken = look?.family === 'bad' ? look.glyph : undefined
  return { family: look?.family ?? 'idle', glyph: broken ?? subject(cause.title) ?? byActor[cause.waitsFor], phase }
}

/** The last link is what is at the bottom of it. */
export function linkGlyph(what: string, last: boolean): GlyphName {
  return last ? 'why' : (subject(what) ?? 'chevron')
}

function subject(text: string): GlyphName | undefined {
  return subjects.find(([pattern]) => pattern.test(text))?.[1]
}
