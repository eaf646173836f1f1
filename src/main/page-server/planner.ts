// Plans for the console: the same reading, checks and rehearsals as `slipway plan`.

import type { PlanAnswer, PlanRequest } from '../../api/console.ts'
import { type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import type { CheckReport } from '../../api/preflight.ts'
import { readClusterSnapshot } from '../../cli/cluster-snapshot.ts'
import { planFindings } from '../../cli/plan-findings.ts'
import type { PlanReport } from '../../core/plan/plan-report.ts'
import { targetText } from '../../core/update/target-text.ts'
import { needsOffers } from '../../core/versions/resolve.ts'
import { observe } from '../../operator/preflight/observe.ts'
import { askForVersions } from '../../operator/versions/version-desk.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Planner } from '../../web/plan-desk.ts'
import { planRole } from '../roles/plan-role.ts'
import { yamlText } from '../yaml-text.ts'
import { type ParsedUpdate, parsePlan } from './parse-update.ts'

export interface PlannerOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly version: string
  readonly namespace: string
  readonly newId: () => string
  readonly seed?: number
}

const shownNodes = 10

export function clusterPlanner(options: PlannerOptions): Planner {
  const { api, clock, version, namespace, newId, seed = 1 } = options
  return async (wish, signal) => {
    const { name, spec, manifest, assumed } = await wished(api, wish, newId, signal)
    const snapshot = await readClusterSnapshot(api, clock, signal)
    const offers =
      snapshot.installed && needsOffers(spec) ? await askForVersions({ api, namespace }, {}, signal) : undefined
    const draft = { update: { metadata: { name }, spec }, script: undefined }
    const looking = {
      clock,
      observe: (by: KubeApi, question: Parameters<typeof observe>[1], until: AbortSignal) =>
        observe({ api: by, clock }, question, until),
      signal,
    }
    const findings = snapshot.installed ? await planFindings(looking, api, draft, snapshot, offers) : []
    const report = await planRole(
      version,
      { snapshot, update: { name, spec }, seed, ...(offers && { offers }) },
      signal,
    )
    return planAnswer({ id: newId(), at: clock.now().toISOString(), spec, manifest, assumed, report, findings })
  }
}

async function wished(
  api: KubeApi,
  { manifest, update }: PlanRequest,
  newId: () => string,
  signal: AbortSignal,
): Promise<Wished> {
  if (manifest !== undefined) {
    const { kind, name, spec } = parsePlan(manifest, newId())
    if (kind === directUpdates.kind) return { name, spec, manifest, assumed: [] }
    const assumed = [`${kind} ${name} makes this update when its time comes; it was planned as if that were now`]
    return { name, spec, manifest: manifestOf(name, spec), assumed }
  }
  const { metadata, spec } = await api.get(directUpdates, { name: update ?? '' }, signal)
  return { name: metadata.name, spec, manifest: manifestOf(metadata.name, spec), assumed: [] }
}

interface Wished extends ParsedUpdate {
  readonly manifest: string
  /** What the plan rests on because of what it was asked of. */
  readonly assumed: readonly string[]
}

function manifestOf(name: string, spec: DirectUpdateSpec): string {
  const { apiVersion, kind } = directUpdates
  return yamlText.print({ apiVersion, kind, metadata: { name }, spec })
}

interface Planned {
  readonly id: string
  readonly at: string
  readonly spec: DirectUpdateSpec
  readonly manifest: string
  readonly assumed: readonly string[]
  readonly report: PlanReport
  readonly findings: readonly CheckReport[]
}

function planAnswer({ id, at, spec, manifest, assumed, report, findings }: Planned): PlanAnswer {
  const { update, path, schedule, verdict, rehearsals, nodes, durationSeconds, durations } = report
  return {
    ...{ id, update, at, verdict, rehearsals, nodes, durationSeconds, durations, manifest },
    ...(path && { from: path.current }),
    target: targetText({ spec, ...(path && { status: { path } }) }),
    ...(schedule && { startsAt: schedule.starts, endsAt: schedule.ends }),
    blockers: report.blockers.map(({ certainty, code, message, nodes: met }) => ({
      certainty,
      code,
      message,
      nodes: met,
    })),
    waves: report.waves.map(({ title, total, nodes: members, startSeconds, endSeconds }) => ({
      ...{ title, total, first: members.slice(0, shownNodes).map(({ name }) => name) },
      ...(startSeconds !== undefined && { startSeconds }),
      ...(endSeconds !== undefined && { endSeconds }),
    })),
    preflight: findings.map(({ check, result, message }) => ({ check, result, message })),
    assumptions: [...assumed, ...report.assumptions],
    command: 'slipway plan -f update.yaml',
  }
}
