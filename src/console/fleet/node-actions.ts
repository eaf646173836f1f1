import type { ConsoleAction, NodeTile } from '../../api/console.ts'

/** What can be asked of a node as it stands, in the order of the buttons. */
export function nodeActions(tile: NodeTile): readonly ConsoleAction[] {
  const { phase, update, profile, hold } = tile
  const broken = isBroken(tile)
  const offered: ConsoleAction[] = []
  if (broken && update !== undefined) offered.push('retry')
  else if (broken && profile !== undefined) offered.push('retry-profile')
  // What no update can skip is given back as it is.
  if (hold !== undefined || (broken && update === undefined)) offered.push('release')
  if (hold === undefined) offered.push('hold')
  if (update !== undefined && phase !== 'Done' && phase !== 'Skipped') offered.push('skip')
  return offered
}

export function isBroken(tile: Pick<NodeTile, 'phase'> | undefined): boolean {
  return tile?.phase === 'Failed' || tile?.phase === 'RequiresAttention'
}
