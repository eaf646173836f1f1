// kured as it stands in a cluster: a DaemonSet that carries its lock.

import { type DaemonSet, daemonSets } from '../api/kube.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import { ensureNamespace } from './workloads.ts'

export const kuredAnnotation = 'weave.works/kured-node-lock'
export const kuredPlace = { namespace: 'ops', name: 'kured' } as const

export async function createKured(api: KubeApi, signal: AbortSignal): Promise<void> {
  await ensureNamespace(api, kuredPlace.namespace, signal)
  const { apiVersion, kind } = daemonSets
  const labels = { app: 'kured' }
  await api.create<DaemonSet>(
    daemonSets,
    {
      ...{ apiVersion, kind, metadata: kuredPlace },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'kured', image: 'pretend' }] } },
      },
    },
    signal,
  )
}
