// Takes away what the agents kept on their hosts: one short-lived pod a node. A host that does not answer in time is named, and holds
// nobody up.

import { type KubeObject, nodes, type Pod, pods, type ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { formatDuration } from '../../core/duration.ts'
import { isReady } from '../../core/node/node-facts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { pause } from '../follow-collection.ts'
import { listAll } from '../read-cluster.ts'
import { type AgentTraits, forgetLabel, forgetPod } from './forget-pod.ts'
import { untilGone } from './remove-data.ts'

export interface Forgetting {
  readonly api: KubeApi
  readonly clock: Clock
  readonly namespace: string
  readonly agents: AgentTraits
  readonly patienceMs: number
  /** Told how far it is after each look. */
  readonly tell: (line: string) => void
}

/** A host on which something stays. */
export interface UncleanHost {
  readonly node: string
  readonly why: string
}

/** What only those who wait for its end want to know of a pod. */
interface EndingPod extends KubeObject {
  readonly spec: { readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly waiting?: { readonly reason?: string; readonly message?: string }
        readonly terminated?: { readonly message?: string; readonly exitCode: number }
      }
    }[]
  }
}

const { apiVersion, kind, plural, namespaced } = pods
const endingPods: ResourceType<EndingPod> = { apiVersion, kind, plural, namespaced }
const lookEveryMs = 1000

/** Resolves to the hosts on which something stays, or may. */
export async function forgetHosts(forgetting: Forgetting, signal: AbortSignal): Promise<readonly UncleanHost[]> {
  const { items } = await listAll(forgetting.api, nodes, { labelSelector: 'kubernetes.io/os=linux' }, signal)
  const away = items.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name)
  const asked = items.filter(isReady).map(({ metadata }) => metadata.name)
  await removePods(forgetting, signal)
  const refused = await createPods(forgetting, asked, signal)
  const last = await untilEnded(forgetting, signal)
  await removePods(forgetting, signal)
  const known = new Set([...refused.map(({ node }) => node), ...last.map(({ spec }) => spec.nodeName)])
  return [
    ...away.map((node) => ({ node, why: 'the node is not Ready' })),
    ...refused,
    ...asked.filter((node) => !known.has(node)).map((node) => ({ node, why: 'its pod was removed by somebody else' })),
    ...last.flatMap((pod) => uncleanOf(pod, forgetting.patienceMs)),
  ].toSorted((a, b) => a.node.localeCompare(b.node))
}

async function createPods(
  { api, namespace, agents }: Forgetting,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly UncleanHost[]> {
  const refused: UncleanHost[] = []
  for (const [index, node] of names.entries()) {
    try {
      await api.create<Pod>(pods, forgetPod(node, `slipway-forget-${index + 1}`, namespace, agents), signal)
    } catch (error) {
      if (!isKubeError(error, 'Forbidden', 'Invalid')) throw error
      refused.push({ node, why: error.message })
    }
  }
  return refused
}

/** All pods as they were seen last. */
async function untilEnded(forgetting: Forgetting, signal: AbortSignal): Promise<readonly EndingPod[]> {
  const { clock, tell, patienceMs } = forgetting
  const deadline = clock.monotonicMs() + patienceMs
  for (;;) {
    const found = await listPods(forgetting, signal)
    const ended = found.filter(hasEnded).length
    tell(`hosts ${ended}/${found.length} looked after`)
    if (ended === found.length || clock.monotonicMs() >= deadline || signal.aborted) return found
    await pause(clock, lookEveryMs, signal)
  }
}

function hasEnded({ status }: EndingPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function uncleanOf(pod: EndingPod, patienceMs: number): readonly UncleanHost[] {
  const { spec, status } = pod
  if (status?.phase === 'Succeeded') return []
  const { waiting, terminated } = status?.containerStatuses?.[0]?.state ?? {}
  const late = `it did not answer within ${formatDuration(patienceMs)}`
  const why = hasEnded(pod)
    ? (said(terminated?.message) ?? status?.message ?? status?.reason ?? 'its pod failed')
    : [late, waiting?.message ?? waiting?.reason].filter(Boolean).join(': ')
  return [{ node: spec.nodeName ?? '', why }]
}

/** What the command said went wrong, without its frame. */
function said(log: string | undefined): string | undefined {
  const line = log?.split('\n').find((each) => each.startsWith('error: '))
  return line?.replace(/^error: /, '').replace(/ \[\w+\]$/, '') ?? log
}

/** At once: a kubelet that does not answer would hold them for ever. */
async function removePods(forgetting: Forgetting, signal: AbortSignal): Promise<void> {
  const { api, namespace, clock } = forgetting
  for (const { metadata } of await listPods(forgetting, signal)) {
    try {
      await api.delete(pods, { name: metadata.name, namespace }, { gracePeriodSeconds: 0 }, signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }
  await untilGone(clock, () => listPods(forgetting, signal), 'the pods that look after the hosts', signal)
}

async function listPods({ api, namespace }: Forgetting, signal: AbortSignal): Promise<readonly EndingPod[]> {
  return (await listAll(api, endingPods, { namespace, labelSelector: forgetLabel }, signal)).items
}
