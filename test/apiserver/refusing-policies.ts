// Admission policies that stand in for somebody who keeps pods from going: a webhook that refuses evictions, a kubelet that
// does not confirm that a pod has ended.

import { expect, vi } from 'vitest'
import { pods } from '../../src/api/kube.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { ApiServer } from '../bed/api-server.ts'
import { kubectl } from '../rollout-rig/installation.ts'

const { signal } = new AbortController()

export const refusalWords = 'not this one'
const evictionsRefused = 'evictions-refused'

/** Pods named `refused…` are not evicted; pods named `stuck…` are deleted by service accounts only. In force when it resolves. */
export async function keepPodsFromGoing(server: ApiServer, api: KubeApi): Promise<void> {
  const items = [
    ...refusing(evictionsRefused, 'pods/eviction', 'CREATE', "!request.name.startsWith('refused')"),
    ...refusing(
      'endings-refused',
      'pods',
      'DELETE',
      "!request.name.startsWith('stuck') || request.userInfo.username.startsWith('system:serviceaccount:')",
    ),
  ]
  await kubectl(server, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const isRefused = async (name: string, goes: (name: string) => Promise<void>) => {
    const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'none' }] }
    const metadata = { generateName: `${name}-probe-`, namespace: 'default' }
    const probe = await api.create(pods, { metadata, spec }, signal)
    await expect(goes(probe.metadata.name)).rejects.toThrow(refusalWords)
  }
  const ref = (name: string) => ({ name, namespace: 'default' })
  await vi.waitFor(
    async () => {
      await isRefused('refused', (name) => api.evict(ref(name), {}, signal))
      await isRefused('stuck', (name) => api.delete(pods, ref(name), {}, signal))
    },
    { timeout: 60_000, interval: 500 },
  )
}

export async function letPodsBeEvicted(server: ApiServer): Promise<void> {
  await kubectl(server, ['delete', 'validatingadmissionpolicybinding', evictionsRefused])
}

function refusing(name: string, resource: string, operation: string, expression: string): readonly object[] {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations: [operation] }]
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression, message: refusalWords }] },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}
