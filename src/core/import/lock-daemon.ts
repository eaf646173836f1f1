// What kured and Kustodian, which came of it, have in common: a DaemonSet with flags, days and times, a file, a lock.

import type { ForeignDaemonSet } from '../../api/foreign-daemon-set.ts'
import { type MaintenancePolicySpec, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { absolutePath } from '../../api/scalars.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { DaemonReading, type Sayings } from './daemon-reading.ts'
import { containerOf, type FlagForm, readFlags } from './flags.ts'
import type { Imported } from './imported.ts'
import { readForeignWindow } from './time-window.ts'

export interface ImportOptions {
  /** Whether the tool's lock is taken too, for as long as both run. */
  readonly lock: boolean
}

export interface LockDaemon {
  /** As its image and container are named. */
  readonly program: string
  /** As people and spec.locks call it. */
  readonly title: string
  readonly type: 'Kured' | 'Kustodian'
}

export function readDaemon(daemonSet: ForeignDaemonSet, { program, title }: LockDaemon, form: FlagForm): DaemonReading {
  const container = containerOf(daemonSet, program)
  if (container) return new DaemonReading(daemonSet, container, readFlags(container, form))
  throw new SlipwayError('Usage', `DaemonSet ${daemonSet.metadata.name} has no container that runs ${program}`, {
    nextStep: `name the DaemonSet of ${title}: --daemonset NAMESPACE/NAME`,
  })
}

/** A file that asks for something, as the host itself knows it. */
export function sentinelFile(reading: DaemonReading, flag: string, usual: string): string {
  const given = reading.text(flag)
  const path = reading.hostPath(given ?? usual)
  if (!absolutePath.safeParse(path).success) {
    reading.say('ToFillIn', flag, 'name it by an absolute path without .. segments or spaces')
  } else if (given !== undefined && path !== given) {
    reading.say('Differs', flag, `the agent sees the host itself, where that is ${path}`)
  }
  return path
}

export function windowsIn(reading: DaemonReading, daysFlag: string): ReturnType<typeof readForeignWindow>['windows'] {
  const { windows, remarks } = readForeignWindow(reading.window(daysFlag), {
    days: `--${daysFlag}`,
    start: '--start-time',
    end: '--end-time',
    timeZone: '--time-zone',
  })
  reading.remarks.push(...remarks)
  return windows
}

export function taintsWaiting(reading: DaemonReading): boolean {
  const name = reading.text('prefer-no-schedule-taint') ?? ''
  if (name === '') return false
  reading.say('Differs', 'prefer-no-schedule-taint', 'the taint has a name of Slipway’s')
  return true
}

export function lockOf(
  reading: DaemonReading,
  { program, title, type }: LockDaemon,
): NonNullable<MaintenancePolicySpec['locks']>[number] {
  const place = reading.lockPlace(program)
  const { namespace, name } = place.daemonSet
  reading.say(
    'Differs',
    'lock-annotation',
    `spec.locks needs a right over that DaemonSet: slipway install --print --lock ${program}=${namespace}/${name} | kubectl apply --server-side -f -; take spec.locks out when ${title} is gone`,
  )
  return { type, ...place }
}

const withoutLock: Sayings = {
  'ds-namespace': 'the ledger is in the policy itself',
  'ds-name': 'the ledger is in the policy itself',
  'lock-annotation': 'the ledger is in the policy itself',
}

/** The policy, with a word on every flag that has not become part of it. */
export function importedPolicy(
  reading: DaemonReading,
  spec: MaintenancePolicySpec,
  { lock }: ImportOptions,
  notNeeded: Sayings,
): Imported {
  reading.sayEach('NotNeeded', lock ? notNeeded : { ...notNeeded, ...withoutLock })
  reading.sayWhichNodes()
  reading.sayUnknown()
  const { apiVersion, kind } = maintenancePolicies
  return { objects: [{ apiVersion, kind, metadata: { name: policyName }, spec }], remarks: reading.remarks }
}
