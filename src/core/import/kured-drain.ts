import type { DrainSettings } from '../../api/drain-settings.ts'
import { labelSelector } from '../../api/scalars.ts'
import { formatDuration } from '../duration.ts'
import { parseSelector } from '../selector-text.ts'
import type { DaemonReading } from './daemon-reading.ts'

/** kured deletes pods that nothing makes again, and those with an emptyDir; it never goes against a budget. */
export function kuredDrain(reading: DaemonReading): DrainSettings {
  const timeout = reading.duration('drain-timeout') ?? 0
  return {
    ...(timeout > 0 && { timeout: formatDuration(Math.max(1000, timeout)) }),
    ...onTimeout(reading, timeout > 0),
    ...grace(reading),
    unmanagedPods: 'Delete',
    ...selected(reading),
  }
}

function onTimeout(reading: DaemonReading, isBounded: boolean): Pick<DrainSettings, 'onTimeout'> {
  if (reading.boolean('force-reboot')) {
    const when = isBounded ? 'when the time is over' : 'after 30m (drain.timeout)'
    const text = `the node is never rebooted under its pods: ${when} those that are left are deleted in spite of their budgets, then it reboots`
    reading.say('Differs', 'force-reboot', text)
    return { onTimeout: 'Force' }
  }
  if (!isBounded) return {}
  const text =
    'the node is put back as there, but counts as failed until a person has it tried again (slipway why NODE)'
  reading.say('Differs', 'drain-timeout', text)
  return { onTimeout: 'Abort' }
}

function grace(reading: DaemonReading): Pick<DrainSettings, 'podGracePeriod'> {
  const period = reading.integer('drain-grace-period') ?? -1
  if (period < 0) return {}
  if (period === 0)
    reading.say('Differs', 'drain-grace-period', 'pods get a second: without any they are not stopped, only forgotten')
  return { podGracePeriod: formatDuration(Math.max(1, Math.min(period, 99_999)) * 1000) }
}

/** Only some pods leave: the others are skipped. */
function selected(reading: DaemonReading): Pick<DrainSettings, 'rules'> {
  const text = reading.text('drain-pod-selector')
  if (text === undefined || text === '') return {}
  const selector = selectorOf(text)
  if (selector === undefined) {
    reading.say(
      'ToFillIn',
      'drain-pod-selector',
      'it is no label selector: write drain.rules that skip the pods that stay',
    )
    return {}
  }
  return { rules: [{ selector, action: 'Evict' }, { action: 'Skip' }] }
}

export function selectorOf(text: string) {
  try {
    const parsed = labelSelector.safeParse(parseSelector(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
