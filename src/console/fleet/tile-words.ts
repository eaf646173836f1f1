import type { NodeTile, UpdateView } from '../../api/console.ts'
import { phaseLook } from '../parts/phase-look.ts'
import { groupTitle } from './fleet-layout.ts'

/** `General, eu-1b, wave 3 of 4`, or with `profile base` where that is at work. */
export function placeText({ group, zone, profile }: NodeTile, wave?: string): string {
  const place = groupTitle(group)
  const part = wave?.toLowerCase() === place.toLowerCase() ? undefined : wave
  return [place, zone, part, profile && `profile ${profile}`].filter(Boolean).join(', ')
}

type Updates = Readonly<Record<string, Pick<UpdateView, 'waves'>>>

/** As its update calls it. */
export function waveTitle({ update, wave }: NodeTile, updates: Updates): string | undefined {
  return update === undefined || wave === undefined ? undefined : updates[update]?.waves[wave]?.title
}

/** All that a tile says, for who cannot see it. */
export function tileLabel(tile: NodeTile): string {
  const waits = tile.waits ? ', waits' : ''
  return `${tile.name}, ${placeText(tile)}, ${phaseLook(tile.phase).label}${waits}. ${sentence(tile)}`
}

/** The catalogue's message; else what stands for itself. */
export function sentence({ reason, phase, kubelet, step }: NodeTile): string {
  if (reason) return reason.message
  const on = kubelet === '' ? '' : ` on ${kubelet}`
  switch (phase) {
    case 'Idle':
      return `Nothing is going on${on}.`
    case 'Done':
      return `Done${on}.`
    case 'Skipped':
      return 'Left out of this update.'
    case 'NotReady':
      return 'The node is not Ready, and no update of ours is at work on it.'
    case 'Cordoned':
      return 'Cordoned, and not by Slipway.'
    case 'Pending':
      return 'Its turn has not come yet.'
    case 'Staging':
      return 'Fetches and checks what it needs; that takes no slot.'
    case 'Draining':
      return 'Its pods are asked to leave.'
    case 'Assigned':
      return 'The order is written; the agent has not accepted it yet.'
    case 'Working':
      return step === undefined ? 'The agent works on it.' : `The agent works on it: ${step}.`
    case 'Verifying':
      return 'The work is done; the node has to show itself healthy.'
    case 'Failed':
      return 'It failed; it is kept as it is until a retry or a skip.'
    case 'RequiresAttention':
      return 'It needs a person.'
  }
}
