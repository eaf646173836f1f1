import type { ConsoleAction, PolicyView, UpdateView } from '../../../api/console.ts'
import { isEnded } from '../../parts/update-look.ts'

/** What can be asked of an update as it stands, in the order of the buttons. */
export function offeredActions(update: UpdateView, window: PolicyView['window'] | undefined): readonly ConsoleAction[] {
  const { phase, desiredState, counts } = update
  const isCancelled = desiredState === 'Cancelled'
  const isBroken = phase === 'Failed' || phase === 'RequiresAttention' || counts.failed > 0
  const offered: ConsoleAction[] = []
  const runs = !isEnded(phase) && phase !== 'Deleting' && !isCancelled
  if (runs && window?.open === false) offered.push('run-now')
  if (isBroken && phase !== 'Deleting' && !isCancelled) offered.push('retry')
  if (!runs) return offered
  offered.push(desiredState === 'Paused' ? 'resume' : 'pause', 'cancel')
  if (askingWave(update) >= 0) offered.push('approve')
  return offered
}

/** The wave that is done and wants a person's word; -1: none does. */
export function askingWave({ waves }: UpdateView): number {
  return waves.findIndex(({ approval }) => approval?.asked && approval.at === undefined)
}
