import type { Reason, ReasonCode } from '../../api/reason.ts'

/** Exit codes of the package jobs that mean more than "failed"; 75 is `EX_TEMPFAIL` of sysexits. */
export const packageExitReasons: Readonly<Record<number, ReasonCode>> = { 75: 'PackageLockHeld' }

const waiting = 'waiting: '

/** While another has the lock the jobs say so every few seconds, and name it. */
export function lockHolder(line: string): Reason | undefined {
  if (!line.startsWith(waiting)) return undefined
  return { code: 'PackageLockHeld', message: line.slice(waiting.length, 512) }
}

/** For the jobs' environment: nobody is asked anything, and no hook restarts services behind our back. */
export const packageJobEnv: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  DEBIAN_FRONTEND: 'noninteractive',
  APT_LISTCHANGES_FRONTEND: 'none',
  NEEDRESTART_SUSPEND: '1',
}
