// What `kubectl describe` should tell of an update: its end, what it waits for a person for, and each wave.

import type { DirectUpdateStatus } from '../../api/direct-update.ts'

export interface UpdateEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
}

export function eventsOf(before: DirectUpdateStatus | undefined, after: DirectUpdateStatus): readonly UpdateEvent[] {
  const { phase, wave, conditions } = after
  const events: UpdateEvent[] = []
  const say = (type: UpdateEvent['type'], reason: string, action: string, note: string) =>
    events.push({ type, reason, action, note })
  const said = (type: string) => conditions?.find((condition) => condition.type === type)
  if (phase !== before?.phase) {
    const sentence = said('Progressing')?.message ?? ''
    if (phase === 'Succeeded') say('Normal', 'Succeeded', 'Finish', sentence)
    if (phase === 'Failed') say('Warning', said('Failed')?.reason ?? 'NodesFailed', 'Finish', sentence)
    if (phase === 'Cancelled') say('Normal', 'Cancelled', 'Finish', sentence)
    if (phase === 'Paused') say('Normal', 'Paused', 'Work', sentence)
    if (phase === 'RequiresAttention') say('Warning', 'RequiresAttention', 'Work', sentence)
  }
  const { runNow } = after
  if (runNow && (runNow.at !== before?.runNow?.at || runNow.operationID !== before.runNow.operationID)) {
    say('Warning', 'RunNow', 'Work', `${runNow.by} lets it go on outside of windows and freezes: ${runNow.reason}`)
  }
  if (wave && wave.of > 1) {
    const title = `wave ${wave.index + 1} of ${wave.of}`
    if (wave.index !== before?.wave?.index)
      say('Normal', 'WaveStarted', 'Work', `${title}: ${wave.size} worker(s) in all`)
    if (wave.promotion && !before?.wave?.promotion) {
      say('Normal', 'ApprovalWanted', 'Work', `${title} is done; the next one wants an approval`)
    }
  }
  return events
}
