import { type Condition, leases as leaseType, type Node, nodes as nodeType, pods as podType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { Following } from './following.ts'
import type { KubeletOptions } from './kubelet-options.ts'
import { KubeletPods } from './kubelet-pods.ts'
import { pause } from './pause.ts'

const defaultLeaseEveryMs = 10_000
const statusEveryMs = 300_000
const leaseNamespace = 'kube-node-lease'
const retryMs = 1000

/** Keeps one Node and the pods on it alive in the API until asked to stop. */
export async function runKubelet(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, nodeName } = options
  await untilDone(() => register(options, signal), options, signal)
  if (signal.aborted) return
  const { promise: broken, reject } = Promise.withResolvers<never>()
  const following = new Following(api, clock, podType, { fieldSelector: `spec.nodeName=${nodeName}` })
  const pods = new KubeletPods(options, reject, signal)
  following.subscribe((after, before) => pods.see(after, before))
  await untilDone(() => renewLease(options, signal), options, signal)
  beat(options, reject, signal)
  await Promise.race([following.run(signal), broken])
}

/** One timer a node: the lease each time, the status now and then, and after a silence in which others gave the node up. */
function beat(options: KubeletOptions, failed: (error: unknown) => void, signal: AbortSignal): void {
  const { clock, leaseEveryMs = defaultLeaseEveryMs } = options
  const leasesPerStatus = Math.ceil(statusEveryMs / leaseEveryMs)
  let renewedMs = clock.monotonicMs()
  let count = 0
  const renew = async (): Promise<void> => {
    await renewLease(options, signal)
    const silentMs = clock.monotonicMs() - renewedMs
    renewedMs = clock.monotonicMs()
    if (++count % leasesPerStatus === 0 || silentMs > 2.5 * leaseEveryMs) await postStatus(options, signal)
  }
  const next = (): void => {
    clock.after(leaseEveryMs, () => {
      if (signal.aborted) return
      renew().catch((error: unknown) => {
        if (!signal.aborted && !isKubeError(error)) failed(error)
      })
      next()
    })
  }
  next()
}

async function untilDone(work: () => Promise<void>, options: KubeletOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
      return
    } catch (error) {
      if (signal.aborted) return
      if (!isKubeError(error)) throw error
      await pause(options.clock, retryMs, signal)
    }
  }
}

async function register(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const { api, nodeName, labels, taints } = options
  try {
    await postStatus(options, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
    await api.create(
      nodeType,
      {
        metadata: { name: nodeName, labels: { 'kubernetes.io/hostname': nodeName, ...labels } },
        spec: taints === undefined ? {} : { taints },
        status: status(options),
      },
      signal,
    )
  }
}

async function postStatus(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const patch = { type: 'merge', body: { status: status(options) } } as const
  await options.api.patch(nodeType, { name: options.nodeName }, patch, signal, 'status')
}

function status(options: KubeletOptions): NonNullable<Node['status']> {
  const now = options.clock.now().toISOString()
  const ready: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  }
  const { found } = options
  if (found) {
    const others = found.status?.conditions?.filter(({ type }) => type !== 'Ready') ?? []
    const nodeInfo = { ...found.status?.nodeInfo, kubeletVersion: options.version, bootID: options.bootId }
    return { conditions: [...others, ready], nodeInfo }
  }
  const resources = { pods: String(options.podCapacity ?? 110), cpu: '8', memory: '32Gi', ...options.allocatable }
  return {
    conditions: [ready],
    nodeInfo: {
      kubeletVersion: options.version,
      bootID: options.bootId,
      machineID: options.nodeName,
      systemUUID: options.nodeName,
      kernelVersion: '6.12.0-pretend',
      osImage: 'Pretend Linux',
      containerRuntimeVersion: 'pretend://1.0',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    capacity: resources,
    allocatable: resources,
  }
}

async function renewLease(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, nodeName } = options
  // The API server takes exactly six digits after the point.
  const renewTime = `${clock.now().toISOString().slice(0, -1)}000Z`
  try {
    const patch = { type: 'merge', body: { spec: { renewTime } } } as const
    await api.patch(leaseType, { name: nodeName, namespace: leaseNamespace }, patch, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
    const spec = { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime }
    await api.create(leaseType, { metadata: { name: nodeName, namespace: leaseNamespace }, spec }, signal)
  }
}
