import {
  configMaps,
  type Deployment,
  daemonSets,
  deployments,
  namespaces,
  type PodSpec,
  podDisruptionBudgets,
} from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { KubeApi } from '../ports/kube-api.ts'

export const operatorNamespace = 'slipway-system'

const anywhere = [{ operator: 'Exists' }] as const

/** As the chart has it; and it is not made anew elsewhere while its node is lost, so that a story tells itself when that is. */
const operatorTolerations: NonNullable<PodSpec['tolerations']> = [
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
]

/** Creates the namespace where there is none. */
export async function ensureNamespace(api: KubeApi, name: string, signal: AbortSignal): Promise<void> {
  try {
    await api.create(namespaces, { metadata: { name } }, signal)
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error
  }
}

export interface WorkloadOptions {
  readonly namespace: string
  readonly name: string
  readonly replicas: number
  readonly labels?: Readonly<Record<string, string>>
  readonly pod?: Partial<PodSpec>
  /** With a budget of this many that may be away. */
  readonly maxUnavailable?: number | string
  readonly minAvailable?: number | string
}

/** A Deployment labelled app=NAME, with its PodDisruptionBudget where asked for. */
export async function createWorkload(api: KubeApi, options: WorkloadOptions, signal: AbortSignal): Promise<Deployment> {
  const { namespace, name, replicas, pod, maxUnavailable, minAvailable } = options
  const labels = { app: name, ...options.labels }
  const deployment = await api.create(
    deployments,
    {
      metadata: { name, namespace, labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'pretend' }], ...pod } },
      },
    },
    signal,
  )
  if (maxUnavailable === undefined && minAvailable === undefined) return deployment
  await api.create(
    podDisruptionBudgets,
    {
      metadata: { name, namespace },
      spec: {
        selector: { matchLabels: labels },
        ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
        ...(minAvailable === undefined ? {} : { minAvailable }),
      },
    },
    signal,
  )
  return deployment
}

/** The operator as it is installed: a Deployment whose pods run the program registered for the image `slipway`. */
export async function createOperatorPods(
  api: KubeApi,
  replicas: number,
  signal: AbortSignal,
  nodeSelector?: Readonly<Record<string, string>>,
  tolerations: NonNullable<PodSpec['tolerations']> = operatorTolerations,
): Promise<void> {
  await ensureNamespace(api, operatorNamespace, signal)
  await createWorkload(
    api,
    {
      namespace: operatorNamespace,
      name: 'slipway',
      replicas,
      labels: { 'app.kubernetes.io/name': 'slipway', 'app.kubernetes.io/component': 'operator' },
      pod: {
        containers: [{ name: 'operator', image: 'slipway', args: ['operator'] }],
        tolerations,
        ...(nodeSelector && { nodeSelector }),
      },
    },
    signal,
  )
}

/** A pod of this name on every node. */
export async function createDaemonSet(
  api: KubeApi,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const labels = { app: name }
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'pretend' }], tolerations: anywhere },
  }
  const spec = { selector: { matchLabels: labels }, template }
  await api.create(daemonSets, { metadata: { name, namespace, labels }, spec }, signal)
}

/** A script as a DirectUpdate names it. */
export async function createScript(api: KubeApi, name: string, script: string, signal: AbortSignal): Promise<void> {
  await ensureNamespace(api, operatorNamespace, signal)
  await api.create(configMaps, { metadata: { name, namespace: operatorNamespace }, data: { script } }, signal)
}
