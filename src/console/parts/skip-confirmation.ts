import type { Confirmation } from './confirm-dialog.tsx'

/** No button takes it back. */
export function skipConfirmation(update: string, nodes: readonly string[]): Confirmation {
  const one = nodes.length === 1
  return {
    title: `Leave ${one ? nodes[0] : `${nodes.length} nodes`} out of ${update}?`,
    text: 'What is under work is finished first. A failed node stays as it is, and holds the others up no more. To take it back, edit spec.skip of the update.',
    act: one ? 'Leave it out' : 'Leave them out',
    command: `slipway skip ${update} ${nodes.join(' ')}`,
  }
}
