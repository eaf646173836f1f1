import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { rootedDisk } from '../../src/adapters/disk/rooted-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import type { Log } from '../../src/ports/log.ts'
import { silentLog } from '../../src/sim/silent-log.ts'

/** The real host adapter over a booted machine, as a privileged pod of it would see it. For one boot: a new one has another pid 1. */
export function hostOfMachine(machine: { initPid(): number | undefined }, log: Log = silentLog): LinuxHost {
  const pid = machine.initPid()
  if (pid === undefined) throw new Error('the machine is off')
  return hostOfInit(pid, log)
}

export function hostOfInit(initPid: number, log: Log = silentLog): LinuxHost {
  const root = `/proc/${initPid}/root`
  const enter = ['nsenter', '-t', String(initPid), '-m', '-u', '-i', '-n', '-p', '-C', '-r', '-w', '--']
  return new LinuxHost({ disk: rootedDisk(new FileDisk(), root), log, root, enter })
}
