/**
 * A booted machine with a real dnf or zypper: Debian's, with an rpm database of its own that knows one package, `bed-base`.
 *
 *   const url = await publishRpms(bed, 'v1.36', [stubKubelet('1.36.3')])
 *   const machine = await bootRpmMachine(bed, 'dnf')
 *   await writeRepositoryFile(machine, { name: 'kubernetes', url, exclude: ['kubelet'] })
 *   await machine.run(['dnf', '-y', 'install', 'kubelet-1.36.3', '--disableexcludes=kubernetes'])
 */

import type { Bed, MachineOptions } from '../bed.ts'
import type { Machine } from '../machine.ts'
import { type PackageManager, rpmLayers } from './rpm-root.ts'

export async function bootRpmMachine(
  bed: Bed,
  manager: PackageManager,
  options: Pick<MachineOptions, 'binds'> = {},
): Promise<Machine> {
  return bed.machine({ ...options, layers: await rpmLayers(manager) })
}
