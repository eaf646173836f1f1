// What CUPCAKE's three kinds have in common: the work, on which nodes and how many at a time, in our words.

import type { CupcakeDirectSpec } from '../../api/cupcake.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import { type CheckName, checkNames } from '../../api/preflight.ts'
import { objectName } from '../../api/scalars.ts'
import type { StrategySpec } from '../../api/strategy.ts'
import { type Component, components as knownComponents } from '../../api/work.ts'

/** Where an air-gapped bundle lies, as the ConfigMap the resource names says; or why that cannot be told. */
export type Bundle = { readonly url: string; readonly sha256: string } | { readonly problem: string }

export interface CupcakeWork
  extends Pick<CupcakeDirectSpec, 'strategy' | 'concurrency' | 'canary' | 'nodeSelector' | 'preflightChecks'> {
  readonly version: string
  readonly components: readonly string[]
  readonly airGapped?: CupcakeDirectSpec['airGapped']
}

export interface WorkTranslation {
  readonly spec: DirectUpdateSpec
  readonly notes: readonly string[]
}

/** Where a field of ours comes from; a schedule has its template below `template.spec`. */
export const workFields: Readonly<Record<string, string>> = {
  'kubernetes.version': 'spec.targetVersion',
  'kubernetes.components': 'spec.components',
  nodeSelector: 'spec.nodeSelector',
  'airGapped.bundle': 'spec.airGapped.bundleConfigMap',
}

/** What an update needs whatever a person thinks of checks: without them Kubernetes breaks, or nothing can be done at all. */
const keptChecks: ReadonlySet<CheckName> = new Set(['Agents', 'VersionPath', 'PackageVersion', 'VersionSkew'])

const mostFirst = 100
const mostAtOnce = 100_000

export function translateWork(work: CupcakeWork, bundle: Bundle | undefined): WorkTranslation {
  const notes: string[] = []
  const components = componentsOf(work.components, notes)
  const labels = Object.entries(work.nodeSelector ?? {})
  return {
    spec: {
      kubernetes: {
        version: versionOf(work.version),
        // Its document takes every node through every minor version.
        workers: 'EachStep',
        ...(components.length > 0 && { components: [...components] }),
      },
      strategy: strategyOf(work, notes),
      ...(labels.length > 0 && { nodeSelector: { matchLabels: Object.fromEntries(labels) } }),
      ...(!work.preflightChecks && { preflight: { skip: checkNames.filter((name) => !keptChecks.has(name)) } }),
      ...(bundle && 'url' in bundle && { airGapped: { bundle } }),
    },
    notes,
  }
}

/** Theirs have no v; whatever is no full version is passed on as it is. */
function versionOf(text: string): string {
  const version = text.trim()
  return /^\d+\.\d+\.\d+([-+][\w.+-]*)?$/.test(version) ? `v${version}` : version
}

function componentsOf(written: readonly string[], notes: string[]): readonly Component[] {
  const isKnown = (name: string): name is Component => knownComponents.some((known) => known === name)
  const unknown = written.filter((name) => !isKnown(name))
  if (unknown.length > 0) notes.push(`components: ${unknown.join(', ')} is none of ${knownComponents.join(', ')}`)
  return [...new Set(written.filter(isKnown))]
}

/**
 * `concurrency` always holds: its definition fills in 1, so that nobody can tell whether it was meant. Nodes named as canaries
 * are a wave of their own, and the others follow by themselves when it came through.
 */
function strategyOf({ strategy, concurrency, canary }: CupcakeWork, notes: string[]): StrategySpec {
  const maxUnavailable = Math.min(concurrency, mostAtOnce)
  const isCanary = strategy === 'canary' || canary?.enabled === true
  if (!isCanary) return { type: strategy === 'parallel' ? 'Parallel' : 'Rolling', maxUnavailable }
  const written = [...new Set(canary?.nodes ?? [])]
  const first = written.filter((name) => objectName.safeParse(name).success).slice(0, mostFirst)
  const left = written.filter((name) => !first.includes(name))
  if (left.length > 0) notes.push(`canary.nodes: ${left.slice(0, 5).join(', ')} cannot be waited for`)
  return {
    type: 'Canary',
    maxUnavailable,
    waves: [{ size: Math.max(1, first.length) }, { size: '100%' }],
    ...(first.length > 0 && { first }),
  }
}

const unitMs: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1 },
  ...{ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
}
const longestHours = 99_999

/** `2h`, `1h30m`, `1.5h`, `90m`, `1d` as we write it; undefined for what is none, or nothing. */
export function durationOf(text: string): string | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/gy)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trim()) return undefined
  const ms = parts.reduce((sum, [, number = '', unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0)
  const seconds = Math.min(Math.ceil(ms / 1000), longestHours * 3600)
  if (seconds <= 0) return undefined
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  return `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${rest > 0 ? `${rest}s` : ''}`
}
