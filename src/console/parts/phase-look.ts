// How a phase looks: its family of colours, its glyph, its name, and how strongly a tile is filled. The normal is quiet:
// only what moves or broke is a solid fill.

import type { TilePhase } from '../../api/console.ts'
import familyStyles from './family.module.css'
import type { GlyphName } from './glyph.tsx'

export const families = ['idle', 'soft', 'out', 'work', 'done', 'bad', 'undo'] as const
export type Family = (typeof families)[number]

export interface PhaseLook {
  readonly family: Family
  readonly glyph: GlyphName
  readonly label: string
  readonly fill: 'solid' | 'hollow' | 'tint' | 'plain' | 'dashed' | 'ringed'
}

const looks: Readonly<Record<TilePhase, PhaseLook>> = {
  Idle: { family: 'idle', glyph: 'Idle', label: 'Idle', fill: 'tint' },
  Pending: { family: 'idle', glyph: 'Pending', label: 'Pending', fill: 'plain' },
  Staging: { family: 'soft', glyph: 'Staging', label: 'Staging', fill: 'dashed' },
  Cordoned: { family: 'out', glyph: 'Cordoned', label: 'Cordoned', fill: 'hollow' },
  Draining: { family: 'out', glyph: 'Draining', label: 'Draining', fill: 'solid' },
  Assigned: { family: 'work', glyph: 'Assigned', label: 'Assigned', fill: 'hollow' },
  Working: { family: 'work', glyph: 'Working', label: 'Working', fill: 'solid' },
  Verifying: { family: 'soft', glyph: 'Verifying', label: 'Verifying', fill: 'solid' },
  Done: { family: 'done', glyph: 'Done', label: 'Done', fill: 'tint' },
  Failed: { family: 'bad', glyph: 'Failed', label: 'Failed', fill: 'solid' },
  RequiresAttention: { family: 'bad', glyph: 'RequiresAttention', label: 'Attention', fill: 'ringed' },
  NotReady: { family: 'bad', glyph: 'NotReady', label: 'Not ready', fill: 'hollow' },
  Skipped: { family: 'idle', glyph: 'Skipped', label: 'Skipped', fill: 'plain' },
}

/** In the order of a node's life; what broke comes after what is done. */
export const tilePhases = Object.keys(looks) as readonly TilePhase[]

export function phaseLook(phase: TilePhase): PhaseLook {
  return looks[phase]
}

/** The class that sets --c (fill), --on (ink on it), --t (text and edge) and --q (tint) for all that is inside. */
export function familyClass(family: Family): string {
  return familyStyles[family] ?? ''
}
