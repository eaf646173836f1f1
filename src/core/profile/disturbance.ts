// What a change of a host's desired state does to the node: nothing, a drain, or a reboot.

import type { DesiredPackage, DesiredState } from '../../api/desired-state.ts'
import type { Disruption } from '../../api/node-profile.ts'
import type { Reason } from '../../api/reason.ts'
import { canonicalJson } from '../fingerprint.ts'
import { etcdServers } from '../kubernetes/component-packages.ts'
import { containerRuntimes, containerStarters, runtimeDaemons } from '../kubernetes/container-runtimes.ts'

export type Level = 'None' | 'Drain' | 'Reboot'

export interface Change {
  readonly item: string
  readonly profile: string
  readonly level: Level
}

export type Disturbance =
  | { readonly ok: true; readonly level: Level; readonly because: string; readonly changes: number }
  | { readonly ok: false; readonly reason: Reason; readonly profiles: readonly string[] }

/** Pods are gone or unmanaged, or a member of etcd is away, while one of these is replaced or restarted. */
const nodeUnits = new Set([
  ...containerRuntimes.flatMap(({ units }) => units),
  ...['kubelet', 'etcd', 'k3s', 'k3s-agent', 'rke2-server', 'rke2-agent', 'k0scontroller', 'k0sworker'].map(
    (name) => `${name}.service`,
  ),
])
const nodePackages = new Set([
  ...['kubelet', 'kubeadm', 'kubernetes-cni'],
  ...runtimeDaemons,
  ...containerStarters,
  ...etcdServers,
])

export function unitsLevel(units: readonly string[]): Level {
  return units.some((unit) => nodeUnits.has(unit)) ? 'Drain' : 'None'
}

export function packageLevel({ name }: Pick<DesiredPackage, 'name'>): Level {
  return nodePackages.has(name) ? 'Drain' : 'None'
}

/** Items that are new, different or gone. Who wants an item, and what becomes of it later, changes nothing on the host. */
export function changesBetween(before: DesiredState, after: DesiredState): readonly Change[] {
  return [
    ...differing(
      before.repositories,
      after.repositories,
      ({ name }) => `repository ${name}`,
      () => 'None',
    ),
    ...differing(before.packages, after.packages, ({ name }) => `package ${name}`, packageLevel),
    ...differing(
      before.files,
      after.files,
      ({ path }) => `file ${path}`,
      ({ restarts }) => unitsLevel(restarts),
    ),
    ...differing(
      before.units,
      after.units,
      ({ name }) => `unit ${name}`,
      ({ name }) => unitsLevel([name]),
    ),
    ...differing(
      before.sysctls,
      after.sysctls,
      ({ key }) => `sysctl ${key}`,
      () => 'None',
    ),
    ...differing(
      before.kernelArguments,
      after.kernelArguments,
      ({ argument }) => `kernel argument ${argument}`,
      () => 'Reboot',
    ),
  ]
}

/**
 * `settingOf`: what the profile itself says; a profile that is gone says Auto. None lowers a drain, but cannot make a change
 * take effect that needs a reboot.
 */
export function disturbance(
  before: DesiredState,
  after: DesiredState,
  settingOf: (profile: string) => Disruption,
): Disturbance {
  let level: Level = 'None'
  let because = 'nothing it changes disturbs a node'
  const changes = changesBetween(before, after)
  for (const change of changes) {
    const setting = settingOf(change.profile)
    if (setting === 'None' && change.level === 'Reboot') return refused(change)
    const wanted = setting === 'None' ? 'None' : setting === 'Auto' ? change.level : highest(setting, change.level)
    if (rank(wanted) <= rank(level)) continue
    level = wanted
    because = `${change.item} of NodeProfile ${change.profile} changes`
  }
  return { ok: true, level, because, changes: changes.length }
}

type Wanted = { readonly profile: string; readonly whenRemoved: string }

function differing<T extends Wanted>(
  before: readonly T[],
  after: readonly T[],
  itemOf: (item: T) => string,
  levelOf: (item: T) => Level,
): readonly Change[] {
  const old = new Map(before.map((item) => [itemOf(item), item]))
  const kept = new Set(after.map(itemOf))
  const changed = after.filter((item) => {
    const was = old.get(itemOf(item))
    return was === undefined || value(was) !== value(item)
  })
  const gone = before.filter((item) => !kept.has(itemOf(item)))
  return [...changed, ...gone].map((item) => {
    const was = old.get(itemOf(item))
    return {
      item: itemOf(item),
      profile: item.profile,
      level: was ? highest(levelOf(was), levelOf(item)) : levelOf(item),
    }
  })
}

function value({ profile: _, whenRemoved: __, ...rest }: Wanted): string {
  return canonicalJson(rest)
}

const levels: readonly Level[] = ['None', 'Drain', 'Reboot']

function rank(level: Level): number {
  return levels.indexOf(level)
}

function highest(one: Level, other: Level): Level {
  return rank(one) >= rank(other) ? one : other
}

function refused({ item, profile }: Change): Disturbance {
  const message = `${item} takes effect only with a reboot, and NodeProfile ${profile} says disruption: None`
  return { ok: false, reason: { code: 'DisruptionRefused', message }, profiles: [profile] }
}
