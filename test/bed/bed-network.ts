// The bed's own network: a bridge this process has an address on, and a namespace with one cable for each machine.

import type { BedSlot } from './bed-slot.ts'
import { execute } from './execute.ts'

/** More machines than a bed ever has; each knows the names and the pod networks of all of them. */
export const mostMachines = 20

export function hostAddress(slot: BedSlot): string {
  return `${slot.network}.1`
}

export function machineAddress(slot: BedSlot, number: number): string {
  return `${slot.network}.${10 + number}`
}

/** The pods of machine `number`; other machines reach them by a plain route. */
export function podSubnet(number: number): string {
  return `10.88.${number}.0/24`
}

export async function raiseBridge(slot: BedSlot): Promise<void> {
  await ip([
    `link add ${slot.prefix} type bridge`,
    `addr add ${hostAddress(slot)}/24 dev ${slot.prefix}`,
    `link set ${slot.prefix} up`,
  ])
}

/** The namespace and the cable of one machine bear its name. */
export async function layCable(slot: BedSlot, number: number): Promise<string> {
  const name = `${slot.prefix}n${number}`
  const others = Array.from({ length: mostMachines }, (_, index) => index + 1).filter((each) => each !== number)
  await ip([
    `netns add ${name}`,
    `link add ${name} type veth peer name eth0 netns ${name}`,
    `link set ${name} master ${slot.prefix} up`,
  ])
  await ip(
    [
      `addr add ${machineAddress(slot, number)}/24 dev eth0`,
      'link set eth0 up',
      'link set lo up',
      `route add default via ${hostAddress(slot)}`,
      ...others.map((other) => `route add ${podSubnet(other)} via ${machineAddress(slot, other)}`),
    ],
    name,
  )
  return `/run/netns/${name}`
}

export async function setCable(name: string, state: 'up' | 'down'): Promise<void> {
  await ip([`link set ${name} ${state}`])
}

export async function removeCable(name: string): Promise<void> {
  await ip([`link del ${name}`, `netns del ${name}`])
}

async function ip(lines: readonly string[], namespace?: string): Promise<void> {
  const where = namespace === undefined ? [] : ['-n', namespace]
  const { code, stderr } = await execute(['ip', ...where, '-batch', '-'], { input: `${lines.join('\n')}\n` })
  if (code !== 0) throw new Error(`ip ended with ${code}: ${stderr.trim()}`)
}
