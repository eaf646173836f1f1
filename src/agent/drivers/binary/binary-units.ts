import type { Host } from '../../../ports/host.ts'

export interface UnitLook {
  readonly state: string
  /** Since boot; undefined where it never ran. */
  readonly startedSeconds: number | undefined
}

export async function lookAtUnit(host: Host, unit: string, signal: AbortSignal): Promise<UnitLook> {
  const argv = ['systemctl', 'show', '--property=ActiveState,ExecMainStartTimestampMonotonic', unit]
  const { stdout } = await host.run({ argv }, signal)
  const started = Number(/^ExecMainStartTimestampMonotonic=(\d+)$/m.exec(stdout)?.[1] ?? 0)
  return {
    state: /^ActiveState=(.*)$/m.exec(stdout)?.[1] ?? 'unknown',
    startedSeconds: started > 0 ? started / 1e6 : undefined,
  }
}

export async function uptimeSeconds(host: Host, signal: AbortSignal): Promise<number> {
  const { stdout } = await host.run({ argv: ['cat', '/proc/uptime'] }, signal)
  return Number(stdout.split(' ')[0])
}

/** By the machine's own clock, as exactly as its `date` tells: a unit may be restarted within the second its file changed in. */
export async function wallSeconds(host: Host, signal: AbortSignal): Promise<number> {
  const { stdout } = await host.run({ argv: ['date', '+%s.%N'] }, signal)
  return Number(/^\d+(\.\d+)?/.exec(stdout)?.[0])
}
