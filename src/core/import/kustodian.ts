// Kustodian's DaemonSet as a MaintenancePolicy: scripts of the hosts that ask for their node by a file.

import type { ForeignDaemonSet } from '../../api/foreign-daemon-set.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { DaemonReading, Sayings } from './daemon-reading.ts'
import type { FlagForm } from './flags.ts'
import type { Imported } from './imported.ts'
import {
  type ImportOptions,
  importedPolicy,
  type LockDaemon,
  lockOf,
  readDaemon,
  sentinelFile,
  taintsWaiting,
  windowsIn,
} from './lock-daemon.ts'
import { onlyFor } from './time-window.ts'

const kustodian: LockDaemon = { program: 'kustodian', title: 'Kustodian', type: 'Kustodian' }
const form: FlagForm = { booleans: new Set(['annotate-nodes']), secrets: new Set() }

const notNeeded: Sayings = {
  period: 'the files are watched',
  'lock-ttl': 'no slot expires by time: it comes back when the script is done, or when its Node is deleted',
  'annotate-nodes': 'the two annotations k8s.io/… are always written',
}

export function importKustodian(daemonSet: ForeignDaemonSet, options: ImportOptions): Imported {
  const reading = readDaemon(daemonSet, kustodian, form)
  const windows = maintenanceWindows(reading)
  const spec: MaintenancePolicySpec = {
    budgets: [{ maxUnavailable: 1 }],
    ...(windows.length > 0 && { windows: [...windows] }),
    ...(options.lock && { locks: [lockOf(reading, kustodian)] }),
    // It deletes pods that nothing makes again, and those with an emptyDir, and waits for the others for ever.
    drain: { unmanagedPods: 'Delete' },
    maintenance: { required: sentinelFile(reading, 'maintenance-sentinel', '/var/maintenance-required') },
    ...(taintsWaiting(reading) && { taintWhileWaiting: true }),
  }
  return importedPolicy(reading, spec, options, notNeeded)
}

function maintenanceWindows(reading: DaemonReading) {
  const windows = windowsIn(reading, 'maintenance-days')
  if (windows.length > 0) {
    const text = 'a script that is done outside of the window gives its node back at once'
    reading.remarks.push({ kind: 'Differs', what: '--start-time, --end-time', text })
  }
  return onlyFor('Maintenance', windows)
}
