// One look at the cluster for the checks that need more than nodes and NodeStates: read once, page by page, reduced on
// arrival. It stands on the KubeApi port alone, so that the command line looks in the same way with its user's rights.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import { type KubeObject, leases, type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Drain } from '../../core/drain/drain-policy.ts'
import { deprecatedUse } from '../../core/preflight/deprecated-metric.ts'
import { PodTally } from '../../core/preflight/pod-tally.ts'
import { apisThatGo, type RemovedApi } from '../../core/preflight/removed-apis.ts'
import type {
  ApiHealth,
  DeprecatedUse,
  Heartbeats,
  PodSight,
  Seen,
  Sights,
  StoredUse,
} from '../../core/preflight/sights.ts'
import { parseVersion } from '../../core/version.ts'
import { eachListed } from '../../kube/each-listed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { observeWebhooks } from './observe-webhooks.ts'

export interface Question {
  readonly spec: DirectUpdateSpec
  readonly serverVersion: string
  /** Whether the update may drain that node. */
  readonly concerns: (node: string) => boolean
  readonly drain: Drain
}

export interface Observer {
  readonly api: KubeApi
  readonly clock: Clock
}

const namesAtMost = 5
const usesAtMost = 20

export async function observe({ api, clock }: Observer, question: Question, signal: AbortSignal): Promise<Sights> {
  const look = <T>(what: string, see: () => Promise<T>) => seen(what, see)
  const [ready, deprecated, stored, podSight, webhooks, heartbeats] = await Promise.all([
    look('/readyz', () => readiness(api, signal)),
    look('/metrics', () => deprecatedUses(api, question, signal)),
    look('objects of APIs that go', () => storedUses(api, question, signal)),
    look('pods and their budgets', () => podsAndBudgets(api, question, signal)),
    look('admission webhooks', () => observeWebhooks(api, signal)),
    look('the Leases of the nodes', () => nodeHeartbeats(api, clock, signal)),
  ])
  return { api: ready, deprecated, stored, pods: podSight, webhooks, heartbeats }
}

async function seen<T>(what: string, see: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { seen: await see() }
  } catch (error) {
    if (!isKubeError(error)) throw error
    return { unseen: `${what} cannot be read: ${error.message}` }
  }
}

async function readiness(api: KubeApi, signal: AbortSignal): Promise<ApiHealth> {
  try {
    await api.readLines('/readyz?verbose', () => undefined, signal)
    return { ready: true }
  } catch (error) {
    if (!isKubeError(error, 'ServerError')) throw error
    return { ready: false, failing: error.message.replaceAll('\n', ', ') }
  }
}

async function deprecatedUses(
  api: KubeApi,
  { spec }: Question,
  signal: AbortSignal,
): Promise<readonly DeprecatedUse[]> {
  if (!spec.kubernetes) return []
  const found = new Map<string, DeprecatedUse>()
  const note = (line: string) => {
    const use = deprecatedUse(line)
    if (use && found.size < usesAtMost) found.set(use.api, use)
  }
  await api.readLines('/metrics', note, signal)
  return [...found.values()]
}

async function storedUses(
  api: KubeApi,
  { spec, serverVersion }: Question,
  signal: AbortSignal,
): Promise<readonly StoredUse[]> {
  const from = parseVersion(serverVersion)
  const to = spec.kubernetes && parseVersion(spec.kubernetes.version)
  if (!from || !to) return []
  const uses = await Promise.all(apisThatGo(from.minor, to.minor).map((gone) => keptThrough(api, gone, signal)))
  return uses.filter(({ objects }) => objects > 0)
}

/** Who wrote an object last through an API is in its managed fields. */
async function keptThrough(api: KubeApi, gone: RemovedApi, signal: AbortSignal): Promise<StoredUse> {
  const { apiVersion, through, kind, plural, namespaced, minor } = gone
  const first: string[] = []
  let objects = 0
  const note = ({ metadata }: KubeObject) => {
    if (isOfApiServer(metadata)) return
    if (!metadata.managedFields?.some((fields) => fields.apiVersion === apiVersion)) return
    objects += 1
    if (first.length < namesAtMost) first.push(`${kind} ${metadata.name}`)
  }
  try {
    await eachListed(api, { apiVersion: through, kind, plural, namespaced }, {}, note, signal)
  } catch (error) {
    // A kind that is not served keeps nothing.
    if (!isKubeError(error, 'NotFound')) throw error
  }
  return { api: `${apiVersion} ${plural}`, removedIn: minor, objects, first }
}

/** The API server makes some of these itself, and makes them anew in the newer version. */
function isOfApiServer({ managedFields = [] }: KubeObject['metadata']): boolean {
  return (
    managedFields.length > 0 && managedFields.every(({ manager }) => manager?.startsWith('api-priority-and-fairness'))
  )
}

async function podsAndBudgets(api: KubeApi, { concerns, drain }: Question, signal: AbortSignal): Promise<PodSight> {
  const budgets: PodDisruptionBudget[] = []
  const keep = ({ metadata, spec, status }: PodDisruptionBudget) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp, generation } = metadata
    const kept = { name, uid, resourceVersion, creationTimestamp, ...(namespace !== undefined && { namespace }) }
    budgets.push({
      metadata: { ...kept, ...(generation !== undefined && { generation }) },
      spec,
      ...(status && { status }),
    })
  }
  await eachListed(api, podDisruptionBudgets, {}, keep, signal)
  const tally = new PodTally(budgets, concerns, drain)
  await eachListed(api, pods, {}, (pod) => tally.add(pod), signal)
  return tally.sight
}

async function nodeHeartbeats(api: KubeApi, clock: Clock, signal: AbortSignal): Promise<Heartbeats> {
  const renewedAt = new Map<string, string>()
  await eachListed(
    api,
    leases,
    { namespace: 'kube-node-lease' },
    ({ metadata, spec }) => {
      if (spec.renewTime) renewedAt.set(metadata.name, spec.renewTime)
    },
    signal,
  )
  // Judged by the later end: a Lease that was renewed while we read is not ahead of us.
  return { at: clock.now(), renewedAt }
}
