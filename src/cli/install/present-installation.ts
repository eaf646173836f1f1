// Which Slipway this cluster has already. There can be one only: it names roles, policies and kinds of the whole cluster.

import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { find } from '../read-cluster.ts'
import { clusterRoleBindings } from './installed-kinds.ts'
import { agentName, operatorName } from './rights.ts'

export interface Installation {
  readonly namespace: string
  /** The Helm release it belongs to. */
  readonly release?: string | undefined
}

export async function presentInstallation(api: KubeApi, signal: AbortSignal): Promise<Installation | undefined> {
  try {
    const { metadata, subjects } = await api.get(clusterRoleBindings, { name: operatorName }, signal)
    const namespace = subjects?.[0]?.namespace
    if (namespace === undefined) return undefined
    const isHelms = metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm'
    return {
      namespace,
      release: isHelms ? (metadata.annotations?.['meta.helm.sh/release-name'] ?? 'slipway') : undefined,
    }
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined
    throw error
  }
}

/** Told by who holds the agents' rights: pods have an account, services speak as the kubelets of their hosts do. */
export async function agentsAreServices(api: KubeApi, signal: AbortSignal): Promise<boolean> {
  const binding = await find(api, clusterRoleBindings, { name: agentName }, signal)
  return binding?.subjects?.some(({ kind }) => kind === 'Group') ?? false
}

export function installedElsewhere(present: string, wanted: string): SlipwayError {
  return new SlipwayError(
    'InstalledElsewhere',
    `Slipway is installed in namespace ${present} already, and a cluster can have one only; nothing was changed`,
    {
      nextStep: `use that one (--namespace ${present}), or remove it first: slipway uninstall; you asked for ${wanted}`,
    },
  )
}

export function managedByHelm({ namespace, release }: Installation, instead: string): SlipwayError {
  return new SlipwayError(
    'ManagedByHelm',
    `Slipway belongs to the Helm release ${release} in namespace ${namespace}; nothing was changed`,
    { nextStep: instead },
  )
}
