// What we left on objects of others: the marks on nodes, and the lock of another tool.

import { daemonSets, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { lockAnnotation, lockOwnerID, lockWithoutUs } from '../../core/ledger/foreign-lock.ts'
import { lastChange } from '../../core/node/last-trace.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { find, listAll } from '../read-cluster.ts'

/** Another writer may come between reading and writing; then both are done again. */
const tries = 5

/** The names of the nodes on which something was. `comesBack`: what people said there stays. */
export async function clearNodes(api: KubeApi, comesBack: boolean, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await listAll(api, nodes, {}, signal)
  const marked = items.filter((node) => lastChange(node, comesBack) !== undefined).map(({ metadata }) => metadata.name)
  for (const name of marked) await clearNode(api, name, comesBack, signal)
  return marked
}

async function clearNode(api: KubeApi, name: string, comesBack: boolean, signal: AbortSignal): Promise<void> {
  for (let left = tries; ; left--) {
    const node = await find(api, nodes, { name }, signal)
    const change = node && lastChange(node, comesBack)
    if (!change) return
    const { uid, resourceVersion } = node.metadata
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
    try {
      await api.patch(nodes, { name }, { type: 'merge', body }, signal)
      return
    } catch (error) {
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}

export async function releaseLocks(
  api: KubeApi,
  policy: MaintenancePolicy | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const lock of policy?.spec.locks ?? []) {
    const daemonSet = await find(api, daemonSets, lock.daemonSet, signal)
    const key = lockAnnotation(lock)
    const text = daemonSet?.metadata.annotations?.[key]
    if (!daemonSet || !text?.includes(`"${lockOwnerID}"`)) continue
    const { resourceVersion } = daemonSet.metadata
    const body = { metadata: { annotations: { [key]: lockWithoutUs(lock, text) }, resourceVersion } }
    await api.patch(daemonSets, lock.daemonSet, { type: 'merge', body }, signal)
  }
}
