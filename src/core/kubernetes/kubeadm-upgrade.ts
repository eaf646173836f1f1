// What kubeadm is asked to do on one node. The first control-plane node of a minor version is the one that finds the cluster's
// own record, kube-system/kubeadm-config, at an older version; whichever node of ours that happens to be.

import { parse, parseDocument } from 'yaml'
import { clusterConfigurationSchema, type NodeList } from '../../api/kubernetes-output.ts'
import type { KubernetesWork } from '../../api/work.ts'
import { compareVersions } from '../version.ts'

export type UpgradeMode = 'apply' | 'node'

export function upgradeMode(clusterVersion: string, target: string): UpgradeMode {
  return compareVersions(clusterVersion, target) < 0 ? 'apply' : 'node'
}

/** The version the whole cluster is recorded at; undefined for what is no ClusterConfiguration. */
export function clusterVersion(clusterConfiguration: string): string | undefined {
  const parsed = clusterConfigurationSchema.safeParse(parseOrNothing(clusterConfiguration))
  return parsed.success ? parsed.data.kubernetesVersion : undefined
}

/** The same configuration for another version, for `kubeadm config images list --config`. */
export function atVersion(clusterConfiguration: string, version: string): string {
  const document = parseDocument(clusterConfiguration)
  document.set('kubernetesVersion', version)
  return document.toString()
}

/** The options of `upgrade apply` and `upgrade node` alike. */
export function upgradeOptions(
  { ignorePreflightErrors = [], patches, certificateRenewal }: NonNullable<KubernetesWork['kubeadm']>,
  alsoIgnored: readonly string[] = [],
): readonly string[] {
  const ignored = [...new Set([...ignorePreflightErrors, ...alsoIgnored])]
  return [
    ...(ignored.length > 0 ? [`--ignore-preflight-errors=${ignored.join(',')}`] : []),
    ...(patches !== undefined ? [`--patches=${patches}`] : []),
    ...(certificateRenewal !== undefined ? [`--certificate-renewal=${certificateRenewal}`] : []),
  ]
}

const toleratedTaint = 'node-role.kubernetes.io/control-plane'

/**
 * Whether some node can take the pod of kubeadm's check `CreateJob`, which tolerates the control plane's taint and no other
 * (app/phases/upgrade/health.go).
 */
export function canTakeCheckJob({ items }: NodeList): boolean {
  return items.some(({ spec, status }) => {
    const ready = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
    const repels =
      spec.taints?.some(({ key, effect }) => effect !== 'PreferNoSchedule' && key !== toleratedTaint) ?? false
    return ready && spec.unschedulable !== true && !repels
  })
}

function parseOrNothing(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
