// Processes as /proc shows them.

import { readdir, readFile } from 'node:fs/promises'
import process from 'node:process'

interface ProcessStat {
  readonly group: number
  readonly startTime: string
}

/** The start time of a process, as the kernel counts it; undefined when it is not running. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  return (await statOf(String(pid)))?.startTime
}

/** Whether any process of the group still runs. Looked up in /proc, since a signal would also reach what only waits to be reaped. */
export async function groupIsRunning(leader: number): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  const stats = await Promise.all(pids.map(statOf))
  return stats.some((stat) => stat?.group === leader)
}

/** Sends the signal to the whole group; false when there is no such group any more. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(-leader, signal)
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false
    throw error
  }
}

/** Undefined when it is not there, or has ended and only waits to be reaped. */
async function statOf(pid: string): Promise<ProcessStat | undefined> {
  let stat: string
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
  // The second field is the program's name in parentheses and may hold anything; the third is the state, then parent and group.
  const [state, , group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const startTime = rest[16]
  if (state === 'Z' || state === 'X' || startTime === undefined) return undefined
  return { group: Number(group), startTime }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}
