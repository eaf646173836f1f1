// How the phase of an update looks.

import type { UpdateView } from '../../api/console.ts'
import type { ChipProps } from './phase-chip.tsx'

const looks: Readonly<Record<UpdateView['phase'], ChipProps>> = {
  Pending: { family: 'idle', glyph: 'Pending', label: 'Pending' },
  Planning: { family: 'soft', glyph: 'plan', label: 'Planning' },
  Planned: { family: 'idle', glyph: 'plan', label: 'Planned' },
  InProgress: { family: 'work', glyph: 'Working', label: 'In progress' },
  Paused: { family: 'out', glyph: 'pause', label: 'Paused' },
  Succeeded: { family: 'done', glyph: 'Done', label: 'Succeeded' },
  Failed: { family: 'bad', glyph: 'Failed', label: 'Failed', solid: true },
  RequiresAttention: { family: 'bad', glyph: 'RequiresAttention', label: 'Attention' },
  Cancelled: { family: 'idle', glyph: 'Skipped', label: 'Cancelled' },
  Deleting: { family: 'undo', glyph: 'RollingBack', label: 'Being deleted' },
}

export function updateLook(phase: UpdateView['phase']): ChipProps {
  return looks[phase]
}

export function isEnded(phase: UpdateView['phase']): boolean {
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Cancelled'
}

/** Those that go on first, then the newest. */
export function inOrder(updates: Readonly<Record<string, UpdateView>>): readonly UpdateView[] {
  const begun = ({ startedAt }: UpdateView) => (startedAt === undefined ? 0 : Date.parse(startedAt))
  return Object.values(updates).sort(
    (a, b) =>
      Number(isEnded(a.phase)) - Number(isEnded(b.phase)) || begun(b) - begun(a) || a.name.localeCompare(b.name),
  )
}
