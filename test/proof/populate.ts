// Puts what was drawn into a cluster, simulated or real, through the API alone.

import { daemonSets, jobs, nodes, podDisruptionBudgets, pods, secrets, statefulSets } from '../../src/api/kube.ts'
import { persistentVolumeClaims } from '../../src/api/kube-storage.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { createKured, kuredAnnotation, kuredPlace } from '../../src/sim/kured.ts'
import { createWorkload, ensureNamespace, operatorNamespace } from '../../src/sim/workloads.ts'
import type { ClusterDraft, WorkloadDraft } from './cluster-draft.ts'
import { profileName, shop } from './drawn-names.ts'

/** What runs in the cluster while all is well. */
export async function populate(api: KubeApi, draft: ClusterDraft, signal: AbortSignal): Promise<void> {
  await ensureNamespace(api, shop, signal)
  for (const workload of draft.workloads) await deploy(api, workload, signal)
  if (draft.kured) await createKured(api, signal)
  if (draft.profile) {
    const metadata = { name: 'token', namespace: operatorNamespace }
    await api.create(secrets, { metadata, data: { value: 'c2VjcmV0' } }, signal)
    await api.create(nodeProfiles, { metadata: { name: profileName }, spec: draft.profile }, signal)
  }
}

/** What people and other tools have done to it since; it must have a policy by now. */
export async function disturb(api: KubeApi, draft: ClusterDraft, signal: AbortSignal): Promise<void> {
  if (draft.lonely !== undefined) {
    const spec = { nodeName: draft.lonely, containers: [{ name: 'main', image: 'pretend' }] }
    await api.create(pods, { metadata: { name: 'lonely', namespace: shop }, spec }, signal)
  }
  if (draft.twins) {
    const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'app-0' } } }
    for (const name of ['twin-a', 'twin-b'])
      await api.create(podDisruptionBudgets, { metadata: { name, namespace: shop }, spec }, signal)
  }
  if (draft.cordoned !== undefined) {
    const body = { spec: { unschedulable: true } }
    await api.patch(nodes, { name: draft.cordoned }, { type: 'merge', body }, signal)
  }
  if (draft.kured === 'held') {
    const lock = { nodeID: 'w1', metadata: { unschedulable: false }, created: '2026-01-01T00:00:00Z', TTL: 0 }
    const body = { metadata: { annotations: { [kuredAnnotation]: JSON.stringify(lock) } } }
    await api.patch(daemonSets, kuredPlace, { type: 'merge', body }, signal)
  }
  await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec: draft.policy } }, signal)
}

async function deploy(api: KubeApi, draft: WorkloadDraft, signal: AbortSignal): Promise<void> {
  const { kind, name, replicas, pod, budget } = draft
  if (kind === 'Deployment') {
    await createWorkload(api, { namespace: shop, name, replicas, pod, ...budget }, signal)
    return
  }
  const labels = { app: name }
  const metadata = { name, namespace: shop, labels }
  const selector = { matchLabels: labels }
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }]
  const template = { metadata: { labels }, spec: { containers: [], ...pod, ...(draft.volume && { volumes }) } }
  if (draft.volume) {
    const claim = { accessModes: ['ReadWriteOnce'], volumeName: `pv-${name}` }
    await api.create(persistentVolumeClaims, { metadata: { name, namespace: shop }, spec: claim }, signal)
  }
  if (kind === 'StatefulSet') {
    await api.create(statefulSets, { metadata, spec: { replicas, serviceName: name, selector, template } }, signal)
  } else {
    const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' as const } }
    await api.create(jobs, { metadata, spec: { completions: 20, parallelism: 1, template: once } }, signal)
  }
  if (!budget) return
  const about = { metadata: { name, namespace: shop }, spec: { selector, ...budget } }
  await api.create(podDisruptionBudgets, about, signal)
}
