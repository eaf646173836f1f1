// One systemd unit of a host: how it stands, and how it is brought to what is wanted.

import type { DesiredUnit } from '../../../api/desired-state.ts'
import type { ManagedUnit } from '../../../api/profile-record.ts'
import type { Host } from '../../../ports/host.ts'
import { answerOf } from '../host-answer.ts'

export interface UnitLook {
  /** `not-found` where systemd knows no such unit. */
  readonly load: string
  readonly active: string
  /** `enabled`, `disabled`, `static`, `masked` …; empty where there is no file. */
  readonly file: string
  /** Its last start was left out because a condition of its own did not hold, as of a folder that is not empty. */
  readonly isSkipped: boolean
}

export type WantedUnit = Pick<DesiredUnit, 'name' | 'enabled' | 'state'>

/** Starting and stopping may take as long as the unit itself allows; most units allow a minute and a half. */
const timeoutMs = 180_000

export async function lookAtUnit(host: Host, name: string, signal: AbortSignal): Promise<UnitLook> {
  const properties = 'LoadState,ActiveState,UnitFileState,ConditionResult,ConditionTimestampMonotonic'
  const argv = ['systemctl', 'show', `--property=${properties}`, '--', name]
  return parseUnit(await answerOf(host, { argv }, signal, 'UnitFailed'))
}

/** `systemctl show` prints one `Property=value` a line, in an order of its own. */
export function parseUnit(text: string): UnitLook {
  const values = new Map(
    text.split('\n').flatMap((line): [string, string][] => {
      const at = line.indexOf('=')
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()]]
    }),
  )
  return {
    load: values.get('LoadState') ?? '',
    active: values.get('ActiveState') ?? '',
    file: values.get('UnitFileState') ?? '',
    // Of a unit that nobody ever started the result is `no` as well, at the time 0.
    isSkipped: values.get('ConditionResult') === 'no' && Number(values.get('ConditionTimestampMonotonic')) > 0,
  }
}

export function isEnabled({ file }: UnitLook): boolean {
  return file === 'enabled' || file === 'enabled-runtime' || file === 'alias'
}

export function isActive({ active }: UnitLook): boolean {
  return active === 'active' || active === 'reloading' || active === 'refreshing' || active === 'activating'
}

/** What is not as wanted, in words; undefined when all is. */
export function unitDifference({ name, enabled, state }: WantedUnit, look: UnitLook): string | undefined {
  if (look.load === 'not-found' && (enabled === true || state === 'Running')) return `there is no unit ${name}`
  if (enabled !== undefined && isEnabled(look) !== enabled) {
    return `${name} is ${look.file || 'without a unit file'}, not ${enabled ? 'enabled' : 'disabled'}`
  }
  // One that is still activating is not known to run yet.
  if (state === 'Running' && (!isActive(look) || look.active === 'activating'))
    return `${name} is ${look.active}, not running`
  if (state === 'Stopped' && isActive(look)) return `${name} is ${look.active}, not stopped`
  return undefined
}

export async function bringUnit(host: Host, wanted: WantedUnit, signal: AbortSignal): Promise<void> {
  const { name, enabled, state } = wanted
  const look = await lookAtUnit(host, name, signal)
  if (enabled !== undefined && isEnabled(look) !== enabled) {
    await answerOf(
      host,
      { argv: ['systemctl', enabled ? 'enable' : 'disable', '--', name], timeoutMs },
      signal,
      'UnitFailed',
    )
  }
  if (state === 'Running' && look.active !== 'active') {
    await answerOf(host, { argv: ['systemctl', 'start', '--', name], timeoutMs }, signal, 'UnitFailed')
  }
  if (state === 'Stopped' && isActive(look))
    await answerOf(host, { argv: ['systemctl', 'stop', '--', name], timeoutMs }, signal, 'UnitFailed')
}

/** As it was before it was managed, as far as it was; a unit that is gone needs nothing. */
export async function restoreUnit(
  host: Host,
  { name, enabled, active }: ManagedUnit,
  signal: AbortSignal,
): Promise<void> {
  const look = await lookAtUnit(host, name, signal)
  if (look.load === 'not-found') return
  await bringUnit(
    host,
    {
      name,
      ...(enabled !== undefined && { enabled }),
      ...(active !== undefined && { state: active ? 'Running' : 'Stopped' }),
    },
    signal,
  )
}

export async function reloadUnits(host: Host, signal: AbortSignal): Promise<void> {
  await answerOf(host, { argv: ['systemctl', 'daemon-reload'] }, signal, 'UnitFailed')
}

/** Only what runs, or tried to: a changed file is no reason to start what somebody stopped. */
export async function restartUnit(host: Host, name: string, signal: AbortSignal): Promise<void> {
  const look = await lookAtUnit(host, name, signal)
  if (isActive(look) || look.active === 'failed' || look.isSkipped) {
    // Its file is gone: what still runs cannot be started again.
    const verb = look.load === 'not-found' ? 'stop' : 'restart'
    await answerOf(host, { argv: ['systemctl', verb, '--', name], timeoutMs }, signal, 'UnitFailed')
  }
}

/** Whether systemd must read its files again when this one changes. */
export function isUnitFile(path: string): boolean {
  return /^\/(etc|run|usr\/lib|lib|usr\/local\/lib)\/systemd\/system\//.test(path)
}
