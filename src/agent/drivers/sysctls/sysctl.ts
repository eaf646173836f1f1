// Kernel settings while the machine runs; what holds after a boot stands in a file of /etc/sysctl.d.

import { SlipwayError } from '../../../api/slipway-error.ts'
import { equalJson } from '../../../core/merge-patch.ts'
import type { Host } from '../../../ports/host.ts'

/** The present value; undefined where the kernel has no such setting. */
export async function readSysctl(host: Host, key: string, signal: AbortSignal): Promise<string | undefined> {
  const { exitCode, stdout } = await host.run({ argv: ['sysctl', '-n', '--', key] }, signal)
  return exitCode === 0 ? plain(stdout) : undefined
}

/** The kernel separates numbers by tabs where people write spaces. */
export function plain(value: string): string {
  return value.trim().split(/\s+/).join(' ')
}

export function sysctlDifference(key: string, wanted: string, found: string | undefined): string | undefined {
  if (found === undefined) return `the kernel has no setting ${key}`
  const same = isPortList(key) ? equalJson(portsOf(found), portsOf(wanted)) : found === plain(wanted)
  return same ? undefined : `${key} is ${found}, not ${plain(wanted)}`
}

/** The kernel keeps a set of ports and prints it in its own way: sorted, neighbours as a range. */
function isPortList(key: string): boolean {
  return sysctlPath(key) === '/proc/sys/net/ipv4/ip_local_reserved_ports'
}

function portsOf(list: string): readonly (readonly [first: number, last: number])[] {
  const ranges = plain(list)
    .split(',')
    .map((range): [number, number] => {
      const [first = '', last = first] = range.split('-')
      return [Number(first), Number(last)]
    })
  const joined: [number, number][] = []
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = joined.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

/** Loads a file; what it could not set is found by looking. Returns what it complained of. */
export async function loadSysctls(host: Host, path: string, signal: AbortSignal): Promise<string> {
  const { stderr } = await host.run({ argv: ['sysctl', '-q', '-p', path] }, signal)
  return stderr.trim().slice(-1000)
}

/** A list that is empty, as of reserved ports, is a value too; the sysctl of procps 3.3 takes none, so the kernel is told. */
export async function setSysctl(host: Host, key: string, value: string, signal: AbortSignal): Promise<void> {
  const command =
    value === ''
      ? { argv: ['tee', '--', sysctlPath(key)], input: '\n' }
      : { argv: ['sysctl', '-q', '-w', `${key}=${value}`] }
  const { exitCode, stderr } = await host.run(command, signal)
  if (exitCode !== 0) throw settingRefused(`${key} cannot be set to ${value}: ${stderr.trim().slice(-500)}`)
}

/** As sysctl reads a key: whichever of `.` and `/` comes first separates, and the other one is part of a name. */
export function sysctlPath(key: string): string {
  const separator = /[./]/.exec(key)?.[0]
  const path = separator === '.' ? key.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.')) : key
  return `/proc/sys/${path}`
}

export function settingRefused(message: string): SlipwayError {
  return new SlipwayError('SettingRefused', message, {
    nextStep: 'look at it on the host with sysctl, or take it out of the profile',
  })
}
