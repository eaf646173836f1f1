// Our own resources and their definitions. Nobody is left to take our finalizers off: that is done here.

import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { pause } from '../follow-collection.ts'
import { remove } from '../install/install-cluster.ts'
import { ourKinds } from '../our-kinds.ts'
import { listAll } from '../read-cluster.ts'

const lookEveryMs = 500
const patienceMs = 120_000
const tries = 5

/** How many of them there were. */
export async function removeData(api: KubeApi, signal: AbortSignal): Promise<number> {
  let count = 0
  for (const type of ourKinds) {
    const { items } = await listAll(api, type, {}, signal)
    for (const { metadata } of items) {
      await remove(api, type, { name: metadata.name }, signal)
      await dropFinalizers(api, type, metadata.name, signal)
      count += 1
    }
  }
  for (const { plural } of ourKinds) {
    await remove(api, resourceDefinitionType, { name: `${plural}.slipway.dev` }, signal)
  }
  return count
}

async function dropFinalizers(api: KubeApi, type: ResourceType, name: string, signal: AbortSignal): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      const { metadata } = await api.get(type, { name }, signal)
      if (!metadata.finalizers?.some(isOurs)) return
      const finalizers = metadata.finalizers.filter((entry) => !isOurs(entry))
      const { resourceVersion } = metadata
      const body = { metadata: { finalizers: finalizers.length > 0 ? finalizers : null, resourceVersion } }
      await api.patch(type, { name }, { type: 'merge', body }, signal)
      return
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}

function isOurs(finalizer: string): boolean {
  return finalizer.startsWith('slipway.dev/')
}

/** Looks until it holds; what is not gone in time is named. */
export async function untilGone(
  clock: Clock,
  look: () => Promise<readonly KubeObject[]>,
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonicMs() + patienceMs
  for (;;) {
    const left = await look()
    if (left.length === 0) return
    if (clock.monotonicMs() >= deadline) {
      const names = left.slice(0, 3).map(({ metadata }) => metadata.name)
      throw new SlipwayError('NotGoneInTime', `${what} did not go within two minutes: ${names.join(', ')}`, {
        nextStep: 'see what holds them (kubectl describe), then run: slipway uninstall',
      })
    }
    await pause(clock, lookEveryMs, signal)
  }
}
