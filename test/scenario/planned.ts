// Plans of a story's cluster, as a person makes them.

import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { ClusterSnapshot } from '../../src/api/snapshot.ts'
import { parseClusterSnapshot, readClusterSnapshot } from '../../src/cli/cluster-snapshot.ts'
import type { PlanReport } from '../../src/core/plan/plan-report.ts'
import { type RehearsalOptions, rehearse } from '../../src/main/simulation/rehearse.ts'
import type { Story } from './story.ts'

const { signal } = new AbortController()

/** Saved and read back, as a file would be. */
export async function snapshotOf({ cluster }: Pick<Story, 'cluster'>): Promise<ClusterSnapshot> {
  const { sim } = cluster
  const read = readClusterSnapshot(sim.client('reader'), sim.clock, signal)
  await cluster.pass(1_000)
  return parseClusterSnapshot(JSON.stringify(await read), 'cluster.json')
}

export async function planOf(story: Pick<Story, 'cluster'>, spec: DirectUpdateSpec): Promise<PlanReport> {
  return rehearsed(await snapshotOf(story), spec)
}

type Effort = Partial<Pick<RehearsalOptions, 'rehearsals' | 'rehearsalsWhereTight' | 'nodesAtMost' | 'offers'>>

export function rehearsed(snapshot: ClusterSnapshot, spec: DirectUpdateSpec, effort: Effort = {}): Promise<PlanReport> {
  const update = { name: 'planned', spec }
  const usual = { version: '0.0.0', seed: 7, rehearsals: 3, nodesAtMost: 100 }
  return rehearse({ ...usual, update, snapshot, ...effort }, signal)
}
