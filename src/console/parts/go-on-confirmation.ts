import type { Confirmation } from './confirm-dialog.tsx'

export function goOnConfirmation(cluster: string): Confirmation {
  return {
    title: `Go on in ${cluster}?`,
    text: 'Everything that waits for the emergency stop goes on: windows, budgets and approvals hold as before.',
    act: 'Go on',
    command: 'slipway start --all',
  }
}
