// The cluster of a demo that is looked at in the console: zones and pools, a policy with budgets, hours and a backup store, and a
// past, so that every page has something to show.

import { createHash } from 'node:crypto'
import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { logDesk } from '../../agent/logs/log-desk.ts'
import { type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { updateSchedules } from '../../api/schedule.ts'
import type { NodeSpec } from '../../sim/sim-machine.ts'
import { createScript, operatorNamespace } from '../../sim/workloads.ts'
import { inventedNodes, type Rollout } from './rollout.ts'
import type { SimulationOptions } from './simulated-cluster.ts'

const zones = ['eu-1a', 'eu-1b', 'eu-1c'] as const
const poolLabel = 'slipway.dev/pool'

/** With agents that answer for their logs, too. */
export function demoCluster(nodes: number): Partial<SimulationOptions> {
  return { nodes: demoNodes(nodes), sideTasks: [logDesk(gzipCompression)] }
}

function demoNodes(count: number): readonly NodeSpec[] {
  return inventedNodes(count).map((node, at) => ({
    ...node,
    zone: zones[at % zones.length] ?? zones[0],
    ...(node.role === 'worker' && { labels: { [poolLabel]: at % 4 === 3 ? 'batch' : 'web' } }),
  }))
}

/** One worker and a person's word first, then half of them, then all. */
export const demoSpec: Partial<DirectUpdateSpec> = {
  strategy: {
    maxUnavailable: '25%',
    waves: [{ size: 1, soak: '3m', promotion: 'Manual' }, { size: '50%', soak: '2m' }, { size: '100%' }],
  },
}

const script = '#!/bin/sh\nset -eu\necho "certificates of this host are renewed"\n'
const pastLimitMs = 3_600_000

export async function furnishDemo({ person, simulated }: Rollout, signal: AbortSignal): Promise<void> {
  const { cluster } = simulated
  const { apiVersion, kind } = maintenancePolicies
  const dayMs = 86_400_000
  const day = (ahead: number) => new Date(cluster.clock.nowMs() + ahead * dayMs).toISOString().slice(0, 10)
  const spec = {
    budgets: [
      { maxUnavailable: '34%' },
      { per: 'topology.kubernetes.io/zone', maxUnavailable: 2 },
      { nodeSelector: { matchLabels: { [poolLabel]: 'batch' } }, maxUnavailable: 1 },
    ],
    windows: [
      {
        days: ['Mon' as const, 'Tue' as const, 'Wed' as const, 'Thu' as const, 'Fri' as const],
        start: '06:00',
        end: '20:00',
      },
      { days: ['Sat' as const], start: '22:00', end: '04:00', work: ['Maintenance' as const, 'Reboot' as const] },
    ],
    freezes: [{ from: day(3), to: day(4), reason: 'winter sale' }],
    backupStores: [
      {
        ...{ name: 'nightly', path: '/var/backups/etcd', retention: { count: 14 } },
        schedule: { cron: '0 2 * * *', timeZone: 'Europe/Berlin' },
      },
    ],
  }
  const policy = cluster.server.peek(maintenancePolicies, { name: policyName })
  if (policy) {
    await person.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
  } else {
    await person.create(maintenancePolicies, { apiVersion, kind, metadata: { name: policyName }, spec }, signal)
  }
  const work = { configMap: 'renew-certificates', sha256: createHash('sha256').update(script).digest('hex') }
  await createScript(person, work.configMap, script, signal)
  await person.create(
    updateSchedules,
    {
      ...{
        apiVersion: updateSchedules.apiVersion,
        kind: updateSchedules.kind,
        metadata: { name: 'weekly-certificates' },
      },
      spec: { cron: '30 9 * * 2', timeZone: 'Europe/Berlin', template: { spec: { script: work } } },
    },
    signal,
  )
  await runBefore(
    { person, simulated },
    'renew-certificates',
    { script: work, strategy: { maxUnavailable: '25%' } },
    signal,
  )
}

/** An update that has ended when the demo begins. */
async function runBefore(
  { person, simulated }: Pick<Rollout, 'person' | 'simulated'>,
  name: string,
  spec: DirectUpdateSpec,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = simulated
  const { apiVersion, kind } = directUpdates
  await person.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, signal)
  const isOver = () => cluster.server.peek(directUpdates, { name })?.status?.phase === 'Succeeded'
  await cluster.run({ limitMs: pastLimitMs, until: () => signal.aborted || isOver() })
  await cluster.run({ limitMs: 10_000 })
}

export const demoNamespace = operatorNamespace
