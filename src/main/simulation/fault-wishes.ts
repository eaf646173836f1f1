// What is wanted of the cluster of a fault run, as its people write it down: the policy and the update.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { kuredPlace } from '../../sim/kured.ts'
import { asPatient } from './fault-crowd.ts'
import { rebootSentinel } from './fault-host-scripts.ts'
import type { FaultScenario } from './fault-scenario.ts'

/** One minor version up; or two, of which hosts know only the first. */
export function targetOf({ path }: Pick<FaultScenario['extras'], 'path'>): string {
  return path === undefined ? 'v1.36.3' : 'v1.37.3'
}

export function policyOf(scenario: FaultScenario): MaintenancePolicySpec | undefined {
  const { budget, perZone, kured, extras } = scenario
  const { pool, maintained, rebooting, hours, backup, policyGates } = extras
  const budgets = [
    ...(budget === undefined ? [] : [{ maxUnavailable: budget }]),
    ...(perZone === undefined ? [] : [{ per: 'topology.kubernetes.io/zone', maxUnavailable: perZone }]),
    ...(pool.length === 0 ? [] : [{ nodeSelector: { matchLabels: { pool: 'a' } }, maxUnavailable: 1 }]),
  ]
  const spec: MaintenancePolicySpec = {
    ...(budgets.length > 0 && { budgets }),
    ...hours,
    ...(policyGates.length > 0 && { gates: asPatient(policyGates, extras) }),
    ...(backup && {
      backupStores: [{ ...backupStore, ...(backup.scheduled && { schedule: { cron: '*/5 * * * *' } }) }],
    }),
    ...(kured && { locks: [{ type: 'Kured' as const, daemonSet: kuredPlace }] }),
    ...(maintained !== undefined && { maintenance: {}, taintWhileWaiting: true }),
    ...(rebooting !== undefined && { reboots: { sentinels: [rebootSentinel] } }),
    ...(forcesByPolicy(extras) && { drain: { rules: forceRules } }),
  }
  return Object.keys(spec).length > 0 ? spec : undefined
}

/** Where somebody else than the update drains, too. */
function forcesByPolicy({ tight, profile, maintained, rebooting }: FaultScenario['extras']): boolean {
  return tight === 'forced' && [profile, maintained, rebooting].some((other) => other !== undefined)
}

export function updateOf(
  { work: wanted, maxUnavailable, waves, extras }: FaultScenario,
  script: NonNullable<DirectUpdateSpec['script']>,
): DirectUpdateSpec {
  const { gates, hooks, tight, report, skipped, operationTimeout, backup, path, terms, drain, maxFailures } = extras
  const rules = [
    ...(tight === 'forced' && !forcesByPolicy(extras) ? forceRules : []),
    ...(report ? [{ selector: labelled('report'), action: 'WaitForCompletion' as const, timeout: '2m' }] : []),
  ]
  return {
    // A clock set wrong by a fault stays so, and the update has to come through it.
    preflight: { skip: ['ClockSkew', ...(tight ? ['DisruptionBudgets' as const] : [])] },
    ...(wanted !== 'script' && { kubernetes: { version: targetOf(extras), ...(path && { workers: path }) } }),
    ...(wanted !== 'kubernetes' && { script }),
    strategy: { maxUnavailable, ...(waves && { waves }), ...(maxFailures > 0 && { maxFailures }) },
    ...terms,
    ...(gates.length > 0 && { gates: asPatient(gates, extras) }),
    ...(hooks.length > 0 && { hooks: asPatient(hooks, extras) }),
    ...((rules.length > 0 || drain.timeout !== undefined) && {
      drain: { ...drain, ...(rules.length > 0 && { rules }) },
    }),
    ...(skipped !== undefined && { skip: [skipped] }),
    ...(operationTimeout !== undefined && { operationTimeout }),
    ...(backup && { backup: backup.spec }),
  }
}

const backupStore = { name: 'here', path: '/var/backups' }
const labelled = (app: string) => ({ matchLabels: { app } })
const forceRules = [{ selector: labelled('tight'), action: 'Force' as const, timeout: '30s' }]
