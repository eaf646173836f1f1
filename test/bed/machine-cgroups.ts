// Each machine has a cgroup of its own in every hierarchy: without it booted machines adopt each other's units.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeCgroup } from './bed-leftovers.ts'

const root = '/sys/fs/cgroup'

/**
 * Fresh cgroups for a boot, empty of what the last one left: the kernel is shared, and left-over pods cost a kubelet
 * seconds each. They lie below this process's own, so that memory stays in its accounting.
 */
export function freshCgroups(machine: string): string[] {
  return hierarchies().map(({ folder }) => {
    const own = join(folder, machine)
    removeCgroup(own)
    mkdirSync(own, { recursive: true })
    // A cpuset is born empty, and nothing may run in an empty one.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (existsSync(join(own, file))) writeFileSync(join(own, file), readFileSync(join(folder, file), 'utf8'))
    }
    return own
  })
}

export function removeCgroups(machine: string): void {
  for (const { folder } of hierarchies()) removeCgroup(join(folder, machine))
}

/** Where this process stands in each hierarchy. */
function hierarchies(): readonly { readonly folder: string }[] {
  const own = new Map<string, string>()
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')) {
    const [, controllers = '', path = '/'] = line.split(':')
    own.set(controllers.replace(/^name=/, ''), path)
  }
  if (existsSync(join(root, 'cgroup.procs'))) return [{ folder: join(root, own.get('') ?? '/') }]
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, 'cgroup.procs')))
    .map((name) => ({ folder: join(root, name, own.get(name === 'unified' ? '' : name) ?? '/') }))
}
