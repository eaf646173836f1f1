import { readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second on every machine Node runs on. */
const ticksPerSecond = 100

/** Seconds on a core, in user and kernel mode, since it started. */
export function cpuSecondsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold spaces; user and system time are the 12th and 13th field after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** What each of these processes took of the cores since `before`. */
export function cpuSince(
  before: Readonly<Record<string, number>>,
  pids: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [`cpuSeconds ${name}`, cpuSecondsOf(pid) - (before[name] ?? 0)]),
  )
}

export function cpuNow(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSecondsOf(pid)]))
}
