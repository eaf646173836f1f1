// For managed clusters, whose control plane is somebody else's: without the rights that only upgrades of Kubernetes need.

import { kindsThatGo } from '../../core/preflight/removed-apis.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { operatorName } from './rights.ts'

/** Everything, or what is left of it where only reboots are wanted. */
export function asFarAsWanted({ only }: InstallSettings, all: readonly Manifest[]): readonly Manifest[] {
  if (only === undefined) return all
  return all.filter((manifest) => !isForControlPlane(manifest)).map(withoutUpgradeRules)
}

/** Its namespace holds what a control plane elects its leaders by, and kubeadm's settings. */
function isForControlPlane({ metadata }: Manifest): boolean {
  return metadata.namespace === 'kube-system' && metadata.name === operatorName
}

function withoutUpgradeRules(manifest: Manifest): Manifest {
  const { rules } = manifest
  const isOperators = manifest.kind === 'ClusterRole' && manifest.metadata.name === operatorName
  return isOperators && Array.isArray(rules)
    ? { ...manifest, rules: rules.filter((rule) => !isForUpgrades(rule)) }
    : manifest
}

/** Reads what a newer version would not serve any more: who asks for it, and what is kept through it. */
function isForUpgrades(rule: unknown): boolean {
  const { nonResourceURLs, apiGroups, resources, verbs } = Object(rule)
  if (nonResourceURLs !== undefined) return true
  return [...kindsThatGo()].some(([group, kinds]) => equal([apiGroups, resources, verbs], [[group], kinds, ['list']]))
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
