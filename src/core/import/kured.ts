// kured's DaemonSet as a MaintenancePolicy: reboots that hosts ask for, when they may happen and what must hold before.

import type { ForeignDaemonSet } from '../../api/foreign-daemon-set.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { DaemonReading, Sayings } from './daemon-reading.ts'
import type { FlagForm } from './flags.ts'
import { withoutQuotes } from './go-values.ts'
import type { Imported } from './imported.ts'
import { kuredDrain } from './kured-drain.ts'
import { alertGate, blockingPodGate } from './kured-gates.ts'
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
import { shellWords } from './shell-words.ts'
import { onlyFor } from './time-window.ts'

const kured: LockDaemon = { program: 'kured', title: 'kured', type: 'Kured' }

const form: FlagForm = {
  variables: 'KURED',
  booleans: new Set(['force-reboot', 'alert-filter-match-only', 'alert-firing-only', 'annotate-nodes']),
  secrets: new Set(['notify-url', 'slack-hook-url']),
}

const told =
  'reboots are told as Events of the Node and in metrics; spec.notifications of the policy sends what fails or waits to a webhook (format: Slack), with its address in a Secret'

const noEquivalent: Sayings = {
  'reboot-delay': 'a node is rebooted as soon as it is empty',
  'drain-delay': 'a node is drained as soon as it has its slot',
  'lock-release-delay':
    'the next node goes when this one is healthy; what else must hold first is a gate of the policy',
  'skip-wait-for-delete-timeout':
    'pods that do not end are waited for: drain.onTimeout of the policy says for how long, and what then',
  'notify-url': told,
  'slack-hook-url': told,
  'slack-username': told,
  'slack-channel': told,
  'message-template-drain': told,
  'message-template-reboot': told,
  'message-template-uncordon': told,
  'annotate-nodes': 'the NodeState of the node says that it is under work, why and since when',
  'post-reboot-node-labels': 'no labels are written; NodeState and Events say what was done and when',
  'metrics-host': 'the operator’s metrics have an address of their own: slipway operator --metrics-address',
  'metrics-port': 'the operator’s metrics have an address of their own: slipway operator --metrics-address',
}

const notNeeded: Sayings = {
  'node-id': 'agents know their node',
  period: 'sentinels are watched',
  'log-format': 'logs are always JSON lines',
  'lock-ttl': 'no slot expires by time: it comes back when the node is healthy, or when its Node is deleted',
  'annotation-ttl': 'no slot expires by time: it comes back when the node is healthy, or when its Node is deleted',
}

export function importKured(daemonSet: ForeignDaemonSet, options: ImportOptions): Imported {
  const reading = readDaemon(daemonSet, kured, form)
  const concurrency = Math.min(Math.max(reading.integer('concurrency') ?? 1, 1), 1000)
  const windows = onlyFor('Reboot', windowsIn(reading, 'reboot-days'))
  const gates = gatesOf(reading)
  const spec: MaintenancePolicySpec = {
    budgets: [{ maxUnavailable: concurrency }],
    ...(windows.length > 0 && { windows: [...windows] }),
    ...(options.lock && { locks: [{ ...lockOf(reading, kured), ...(concurrency > 1 && { maxOwners: concurrency }) }] }),
    drain: kuredDrain(reading),
    ...(gates.length > 0 && { gates: [...gates] }),
    reboots: rebootsOf(reading),
    ...(taintsWaiting(reading) && { taintWhileWaiting: true }),
    ...(leavesBalancers(reading) && { leaveLoadBalancers: true }),
  }
  sayHowItReboots(reading)
  reading.sayEach('NoEquivalent', noEquivalent)
  return importedPolicy(reading, spec, options, notNeeded)
}

function rebootsOf(reading: DaemonReading): NonNullable<MaintenancePolicySpec['reboots']> {
  const line = reading.text('reboot-sentinel-command')
  const path = reading.text('reboot-sentinel')
  if (line !== undefined && line !== '') {
    if (path !== undefined) reading.say('NotNeeded', 'reboot-sentinel', 'a sentinel command takes its place')
    const command = shellWords(withoutQuotes(line))
    if (command && command.length > 0 && command.length <= 16) return { command: [...command] }
    reading.say('ToFillIn', 'reboot-sentinel-command', 'give it as a program and its arguments, sixteen words at most')
    return { command: [] }
  }
  return { sentinels: [sentinelFile(reading, 'reboot-sentinel', '/var/run/reboot-required')] }
}

function sayHowItReboots(reading: DaemonReading): void {
  const usual = 'the agent has systemd reboot the host, and proves it by the boot id'
  const command = reading.text('reboot-command')
  if (command !== undefined && !/^["']?(\/usr)?(\/s?bin\/)?(systemctl )?reboot["']?$/.test(command)) {
    reading.say('NoEquivalent', 'reboot-command', `${usual}; what must run before goes into a unit of the host`)
  }
  reading.sayEach('NotNeeded', { 'reboot-method': usual, 'reboot-signal': usual })
}

function gatesOf(reading: DaemonReading): readonly GateSpec[] {
  const alerts = alertGate(reading)
  const gates = [...(alerts ? [alerts] : []), ...blockingPodGate(reading)]
  if (gates.length > 0) {
    const flag = alerts ? 'prometheus-url' : 'blocking-pod-selector'
    reading.say('Differs', flag, 'a gate of the policy holds for updates and profiles, too, not only for reboots')
  }
  return gates
}

/** The one label before reboots that has a meaning to Kubernetes itself. */
function leavesBalancers(reading: DaemonReading): boolean {
  const labels = reading.list('pre-reboot-node-labels') ?? []
  const excluding = 'node.kubernetes.io/exclude-from-external-load-balancers'
  const others = labels.filter((label) => !label.startsWith(excluding))
  if (others.length > 0) {
    reading.say('NoEquivalent', 'pre-reboot-node-labels', `no labels are written; ${told}`)
  }
  return others.length < labels.length
}
