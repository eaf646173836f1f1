// Waits until the operator and the agents of an installation are Ready, and tells why they are not.

import {
  type Condition,
  type DaemonSet,
  type Deployment,
  daemonSets,
  deployments,
  type KubeObject,
  pods,
  type ResourceType,
} from '../../api/kube.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { pause } from '../follow-collection.ts'
import { listAll } from '../read-cluster.ts'

import { ourLabel } from './installed-kinds.ts'
import { agentName, operatorName } from './rights.ts'

export interface WaitOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly namespace: string
  readonly withAgents: boolean
  readonly patienceMs: number
  /** Told how far it is after each look, and when nothing has changed for a while, what is in the way. */
  readonly tell: (line: string) => void
}

/** What only a person who waits wants to know of a pod. */
interface OwnPod extends KubeObject {
  readonly spec: { readonly nodeName?: string }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly {
      readonly ready: boolean
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } }
    }[]
  }
}

const { apiVersion, kind, plural, namespaced } = pods
const ownPods: ResourceType<OwnPod> = { apiVersion, kind, plural, namespaced }

interface Standing {
  readonly ready: number
  readonly wanted: number
  readonly isCurrent: boolean
}

const lookEveryMs = 1000
/** Without a change for so long, a person wants to know why; pods are not asked more often, for there is one on each node. */
const stalledMs = 10_000
const namedAtMost = 5

export async function waitReady(options: WaitOptions, signal: AbortSignal): Promise<void> {
  const { clock, tell } = options
  const deadline = clock.monotonicMs() + options.patienceMs
  let counts = ''
  let trouble = ''
  for (let askedMs = clock.monotonicMs(); ; ) {
    const parts = await standings(options, signal)
    const found = [...parts].map(([name, { ready, wanted }]) => `${name} ${ready}/${wanted} ready`).join(', ')
    const nowMs = clock.monotonicMs()
    const isStalled = found === counts && nowMs - askedMs >= stalledMs
    if (isStalled) trouble = await troubles(options, signal)
    else if (found !== counts) trouble = ''
    if (isStalled || found !== counts) askedMs = nowMs
    counts = found
    tell(withTrouble(counts, trouble))
    if ([...parts.values()].every(isThere)) return
    if (nowMs >= deadline) throw notReady(options, withTrouble(counts, await troubles(options, signal)))
    await pause(clock, lookEveryMs, signal)
  }
}

function withTrouble(counts: string, trouble: string): string {
  return trouble === '' ? counts : `${counts}; ${trouble}`
}

function isThere({ ready, wanted, isCurrent }: Standing): boolean {
  return isCurrent && ready >= wanted
}

async function standings({ api, namespace, withAgents }: WaitOptions, signal: AbortSignal) {
  const found = new Map<string, Standing>()
  found.set('operator', ofDeployment(await api.get(deployments, { name: operatorName, namespace }, signal)))
  if (withAgents) found.set('agents', ofDaemonSet(await api.get(daemonSets, { name: agentName, namespace }, signal)))
  return found
}

function ofDeployment({ metadata, spec, status }: Deployment): Standing {
  const wanted = spec.replicas ?? 1
  const isCurrent = isSeen(metadata, status) && (status?.updatedReplicas ?? 0) >= wanted
  return { ready: status?.readyReplicas ?? 0, wanted, isCurrent }
}

function ofDaemonSet({ metadata, status }: DaemonSet): Standing {
  const wanted = status?.desiredNumberScheduled ?? 0
  const isCurrent = isSeen(metadata, status) && (status?.updatedNumberScheduled ?? 0) >= wanted
  return { ready: status?.numberReady ?? 0, wanted, isCurrent }
}

/** A controller has looked at the object as it is now. */
function isSeen(
  { generation = 1 }: { readonly generation?: number },
  status: { readonly observedGeneration?: number } | undefined,
): boolean {
  return (status?.observedGeneration ?? 0) >= generation
}

/** The first pods that are not Ready, each with its reason. */
async function troubles({ api, namespace }: WaitOptions, signal: AbortSignal): Promise<string> {
  const { items } = await listAll(api, ownPods, { namespace, labelSelector: ourLabel }, signal)
  const found = items.flatMap(({ metadata, spec, status }) => {
    const waiting = status?.containerStatuses?.find(({ ready }) => !ready)?.state?.waiting
    const condition = status?.conditions?.find(({ type, status }) => status !== 'True' && type !== 'Initialized')
    const why = waiting?.message ?? waiting?.reason ?? condition?.message ?? condition?.reason
    return condition ? [`${metadata.name}${spec.nodeName ? ` on ${spec.nodeName}` : ''}: ${why ?? 'not Ready'}`] : []
  })
  return found.slice(0, namedAtMost).join('; ')
}

function notReady({ namespace }: WaitOptions, line: string): SlipwayError {
  return new SlipwayError('NotReadyInTime', `everything was applied, but not all of it is Ready: ${line}`, {
    nextStep: `look at it: kubectl -n ${namespace} get pods; then run the same command again`,
  })
}
