// What agents of a fault run can do, where the run is about more than updates.

import { driftWatch } from '../../agent/drift/drift-watch.ts'
import type { Driver } from '../../agent/drivers/driver.ts'
import { maintenanceDriver } from '../../agent/drivers/maintenance/maintenance.ts'
import { profileDriver } from '../../agent/drivers/profile/profile-driver.ts'
import { rebootDriver } from '../../agent/drivers/reboot/reboot.ts'
import { rehearsalDrivers } from '../../agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalImage } from '../../agent/drivers/rehearsal-work.ts'
import { scriptDriver } from '../../agent/drivers/script.ts'
import { stampsDriver } from '../../agent/drivers/stamps/stamps.ts'
import { sentinelWatcher } from '../../agent/sentinels/sentinel-watcher.ts'
import type { SideTask } from '../../agent/side-task.ts'
import { Turn } from '../../agent/turn.ts'
import type { FaultExtras } from './fault-extras.ts'
import type { PretendStores } from './pretend-backups.ts'
import type { AgentTools, SimulationOptions } from './simulated-cluster.ts'

type Equipment = Pick<SimulationOptions, 'driversOf' | 'sideTasks'>

export function equipmentFor({ profile, maintained, rebooting, beside }: FaultExtras): Equipment {
  const withProfiles = profile !== undefined
  const withSentinels = maintained !== undefined || rebooting !== undefined
  const withMore = beside?.kind === 'Housekeeper' || beside?.kind === 'Image'
  if (!withProfiles && !withSentinels && !withMore) return {}
  // Driver and watch of one life of an agent take turns; what died with an agent must not hold its successor up.
  const turns = new Map<string, Turn>()
  const open = () => Promise.reject(new Error('no profile of a fault run has secrets'))
  const toolsOf = (turn: Turn) => ({ turn, open, findKernelArguments: () => Promise.resolve(undefined) })
  const drift: SideTask = {
    name: 'drift',
    run: (context, signal) => driftWatch(toolsOf(turns.get(context.nodeName) ?? new Turn())).run(context, signal),
  }
  return {
    driversOf: (node: string, { clock, random }: AgentTools): readonly Driver[] => {
      const turn = new Turn()
      turns.set(node, turn)
      const stateDir = '/var/lib/slipway'
      return [
        ...(withProfiles ? [profileDriver({ ...toolsOf(turn), stateDir, now: () => clock.now() })] : []),
        scriptDriver,
        ...rehearsalDrivers,
        ...(withSentinels ? [maintenanceDriver({ clock, random }), rebootDriver] : []),
        ...(withMore ? [rehearsalImage, stampsDriver] : []),
      ]
    },
    sideTasks: [...(withProfiles ? [drift] : []), ...(withSentinels ? [sentinelWatcher] : [])],
  }
}

/** Where the backups of a fault run go. */
export function storesFor({ backup }: FaultExtras, nowMs: () => number): PretendStores {
  if (!backup) return {}
  const { storeDown, takesMs } = backup
  return {
    takesMs,
    trouble: () => {
      const isDown = storeDown && nowMs() >= storeDown.fromMs && nowMs() < storeDown.untilMs
      return isDown ? { code: 'BackupFailed', message: 'connection refused' } : undefined
    },
  }
}
