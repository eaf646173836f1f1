// Is the cluster ready: its version, the policy, backups, other tools, and the rights of whoever asks.

import type { StoreRecord } from '../../api/backup-plan.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { workKinds } from '../../api/window.ts'
import { newestGood } from '../backup/newest-good.ts'
import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { Calendar, judgeTime } from '../time/calendar.ts'
import { parseVersion } from '../version.ts'
import {
  type DoctorView,
  type Finding,
  type ForeignTool,
  looked,
  ok,
  problem,
  type RightSight,
  warning,
} from './finding.ts'

/** The first with ValidatingAdmissionPolicy, which fences the agents. */
const oldestMinor = 30
const dayMs = 86_400_000
const staleBackupMs = 7 * dayMs

const editPolicy = 'kubectl edit maintenancepolicy default'

export function judgeApi({ serverVersion }: DoctorView): Finding {
  const version = parseVersion(serverVersion)
  if (version && version.major === 1 && version.minor < oldestMinor) {
    const message = `Kubernetes ${serverVersion} is older than v1.${oldestMinor}, the first with ValidatingAdmissionPolicy`
    return problem('Api', 'ApiTooOld', message, `upgrade the control plane to v1.${oldestMinor} or newer by hand first`)
  }
  return ok('Api', `Kubernetes ${serverVersion} answers`)
}

export function judgeRights(rights: readonly RightSight[]): readonly Finding[] {
  const missing = rights.filter(({ allowed }) => allowed === false)
  if (missing.length > 0) {
    return missing.map(({ what, purpose }) =>
      warning(
        'Rights',
        'RightMissing',
        `you may not ${what}: ${purpose} will be refused`,
        'ask for this right where you need it',
      ),
    )
  }
  return rights.some(({ allowed }) => allowed === undefined)
    ? [warning('Rights', 'RightsUnknown', 'the API server does not tell what you may do', 'kubectl auth can-i --list')]
    : [ok('Rights', `you may do all that the commands need (${rights.length} rights asked)`)]
}

export function judgePolicy(view: DoctorView, policy: MaintenancePolicy | undefined): readonly Finding[] {
  if (!policy) {
    const message = 'there is no MaintenancePolicy/default; the operator makes it when it starts'
    return [warning('Policy', 'PolicyMissing', message, 'start the operator, or apply a policy of your own')]
  }
  const { spec, status } = policy
  const refused = status?.conditions?.find(({ type, status: holds }) => type === 'Accepted' && holds === 'False')
  const calendar = new Calendar(spec)
  const never = workKinds.flatMap((work) => {
    const { closed } = judgeTime([calendar], work, view.now.getTime(), undefined)
    return closed?.code === 'WindowNeverOpens' ? [work] : []
  })
  const findings = [
    ...(refused ? [problem('Policy', refused.reason, refused.message, editPolicy)] : []),
    ...(calendar.problem === undefined
      ? []
      : [problem('Policy', 'CalendarInvalid', `nothing starts: ${calendar.problem}`, editPolicy)]),
    ...(calendar.problem === undefined && never.length > 0
      ? [warning('Policy', 'WindowNeverOpens', `no window opens again for ${never.join(', ')}`, editPolicy)]
      : []),
    ...(spec.paused
      ? [
          warning(
            'Policy',
            'PolicyPaused',
            'the policy is paused: nothing new starts',
            'go on with slipway start --all',
          ),
        ]
      : []),
    ...(status?.rollCall
      ? [warning('Policy', 'RollCall', status.rollCall.reason.message, 'bring the nodes named back, or delete them')]
      : []),
  ]
  return findings.length > 0 ? findings : [ok('Policy', 'MaintenancePolicy/default can be carried out')]
}

export function judgeBackups(
  { now, updates }: DoctorView,
  policy: MaintenancePolicy | undefined,
  nodes: readonly Node[],
): readonly Finding[] {
  const stores = policy?.spec.backupStores ?? []
  if (stores.length === 0) {
    const hasControlPlane = nodes.some((node) => roleOf(node) === 'ControlPlane')
    if (!hasControlPlane || policy?.spec.datastore === 'Other') return []
    const message = 'no store for backups of etcd is named: updates of the control plane are made without one'
    return [warning('Backups', 'BackupStoreMissing', message, `add one to spec.backupStores: ${editPolicy}`)]
  }
  const records = policy?.status?.backups ?? []
  return looked('Backups', updates, (all) =>
    stores.map(({ name }) => {
      const record = records.find(({ store }) => store === name)
      return judgeStore(name, record?.lastFailure, newestGood(name, record, all), now)
    }),
  )
}

function judgeStore(
  name: string,
  failure: StoreRecord['lastFailure'],
  good: ReturnType<typeof newestGood>,
  now: Date,
): Finding {
  const nextStep = `put that right, then try: slipway backup create --store ${name}`
  if (failure && (!good || good.at < failure.at)) {
    const message = `the last backup to ${name} failed at ${failure.at}: ${failure.reason.message}`
    return problem('Backups', failure.reason.code, message, nextStep)
  }
  if (!good) {
    return warning(
      'Backups',
      'BackupNeverMade',
      `no backup was made to ${name} yet`,
      `make one: slipway backup create --store ${name}`,
    )
  }
  const days = Math.floor((now.getTime() - Date.parse(good.at)) / dayMs)
  const said = `the last backup in ${name} is of ${good.at}, checked by ${good.verified}`
  return days * dayMs >= staleBackupMs
    ? warning(
        'Backups',
        'BackupOld',
        `${said}: ${days} days ago`,
        `give the store a schedule, or run: slipway backup create --store ${name}`,
      )
    : ok('Backups', said)
}

const movingOver: Readonly<Record<string, string>> = {
  kured: 'take its settings over with slipway import kured --lock, then delete its DaemonSet',
  kustodian: 'take its settings over with slipway import kustodian --lock, then delete its DaemonSet',
  'system-upgrade-controller': 'take its Plans over with slipway import suc, then scale its Deployment to 0',
  cupcake: 'stop it; with slipway install --print --with-foreign its resources are carried out by Slipway',
  housekeeper: 'delete it; with slipway install --print --with-foreign its Updates are carried out by Slipway',
}

/** The programs that would work on the same nodes, by the names of their images. */
export const foreignPrograms = Object.keys(movingOver)

export function judgeForeign(tools: readonly ForeignTool[], policy: MaintenancePolicy | undefined): readonly Finding[] {
  if (tools.length === 0) return [ok('OtherTools', `none of ${nameList(foreignPrograms)} runs here`)]
  return tools.map(({ tool, where, namespace, name }) => {
    const lock = policy?.spec.locks?.find(
      ({ type, daemonSet }) =>
        type.toLowerCase() === tool && daemonSet.namespace === namespace && daemonSet.name === name,
    )
    if (lock) return ok('OtherTools', `${where} runs; Slipway and it take turns by its lock`)
    const message = `${where} runs: two tools that drain and reboot the same nodes fight`
    return warning('OtherTools', 'OtherToolRuns', message, movingOver[tool] ?? 'stop it')
  })
}

export function judgeCluster(view: DoctorView): readonly Finding[] {
  const policy = 'seen' in view.policy ? view.policy.seen : undefined
  return [
    ...looked('Rights', view.rights, judgeRights),
    ...looked('OtherTools', view.foreign, (tools) => judgeForeign(tools, policy)),
  ]
}
