// The parts of Kubernetes' own objects that we read or write: hand-written, so that a reader sees what we depend on.

import type { ManagedFields } from './managed-fields.ts'

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFields[]
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** How a kind is spoken of to the API server. `T` ties the descriptor to the object's type; it has no value at run time. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** `v1`, `apps/v1`, `slipway.dev/v1alpha1` */
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly object?: T
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly lastHeartbeatTime?: string
  readonly observedGeneration?: number
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  readonly timeAdded?: string
}

export interface Node extends KubeObject {
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly nodeInfo?: {
      readonly kubeletVersion: string
      readonly bootID: string
      readonly [field: string]: string
    }
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatable?: Readonly<Record<string, string>>
  }
}

export interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

export interface Resources {
  readonly requests?: Readonly<Record<string, string | number>>
  readonly [field: string]: unknown
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly resources?: Resources
  /** Always on an init container makes it a sidecar. */
  readonly restartPolicy?: string
  readonly [field: string]: unknown
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[]
  readonly matchFields?: readonly NodeRequirement[]
}

export interface NodeRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  readonly values?: readonly string[]
}

export interface PodAffinityTerm {
  readonly topologyKey: string
  readonly labelSelector?: LabelSelector
  readonly namespaces?: readonly string[]
}

/** Only what is required: preferences decide nothing here. */
export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
    }
  }
  readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] }
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] }
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'
  readonly labelSelector?: LabelSelector
}

export interface PodSpec {
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly resources?: Resources
  readonly overhead?: Readonly<Record<string, string | number>>
  readonly affinity?: Affinity
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[]
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  readonly terminationGracePeriodSeconds?: number
  readonly tolerations?: readonly Toleration[]
  readonly volumes?: readonly {
    readonly name: string
    readonly emptyDir?: object
    readonly persistentVolumeClaim?: { readonly claimName: string }
    readonly ephemeral?: object
    readonly [source: string]: unknown
  }[]
  readonly [field: string]: unknown
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec
  readonly status?: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
    readonly conditions?: readonly Condition[]
    readonly startTime?: string
    readonly reason?: string
    readonly message?: string
  }
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined
  readonly matchExpressions?:
    | readonly {
        readonly key: string
        readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
        readonly values?: readonly string[] | undefined
      }[]
    | undefined
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: PodSpec
}

export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector: LabelSelector; readonly template: PodTemplate }
  readonly status?: {
    readonly replicas?: number
    readonly readyReplicas?: number
    readonly updatedReplicas?: number
    readonly observedGeneration?: number
  }
}

export interface ReplicaSet extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector: LabelSelector; readonly template?: PodTemplate }
  readonly status?: { readonly replicas: number; readonly readyReplicas?: number; readonly observedGeneration?: number }
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number
    readonly serviceName?: string
    readonly selector: LabelSelector
    readonly template: PodTemplate
  }
  readonly status?: { readonly replicas: number; readonly readyReplicas?: number; readonly observedGeneration?: number }
}

export interface DaemonSet extends KubeObject {
  readonly spec: { readonly selector: LabelSelector; readonly template: PodTemplate }
  readonly status?: {
    readonly currentNumberScheduled: number
    readonly desiredNumberScheduled: number
    readonly numberMisscheduled: number
    readonly numberReady: number
    readonly updatedNumberScheduled?: number
    readonly observedGeneration?: number
  }
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly completions?: number
    readonly parallelism?: number
    readonly backoffLimit?: number
    readonly template: PodTemplate
    readonly [field: string]: unknown
  }
  readonly status?: {
    readonly active?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly conditions?: readonly Condition[]
    readonly startTime?: string
    readonly completionTime?: string
  }
}

/** Only its template is read: what runs is a Job of our own. */
export interface CronJob extends KubeObject {
  readonly spec: {
    readonly jobTemplate: {
      readonly metadata?: PodTemplate['metadata']
      readonly spec: Job['spec']
    }
    readonly [field: string]: unknown
  }
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: number | string
    readonly maxUnavailable?: number | string
    readonly selector?: LabelSelector
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow'
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly disruptionsAllowed: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly expectedPods: number
    /** Pods whose eviction was accepted but not yet seen by the disruption controller: name to instant. */
    readonly disruptedPods?: Readonly<Record<string, string>>
    readonly conditions?: readonly Condition[]
  }
}

export interface Secret extends KubeObject {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>
}

export interface ConfigMap extends KubeObject {
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string }
}

export interface Lease extends KubeObject {
  readonly spec: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string | null
    readonly renewTime?: string | null
    readonly leaseTransitions?: number
  }
}

/** events.k8s.io/v1 */
export interface KubeEvent extends KubeObject {
  readonly eventTime: string
  readonly reportingController: string
  readonly reportingInstance: string
  readonly action: string
  readonly reason: string
  readonly type: 'Normal' | 'Warning'
  readonly note: string
  readonly regarding: ObjectReference
  readonly related?: ObjectReference
  readonly series?: { readonly count: number; readonly lastObservedTime: string } | null
}

export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
}

const coreType = <T extends KubeObject>(kind: string, plural: string, namespaced: boolean): ResourceType<T> => ({
  apiVersion: 'v1',
  kind,
  plural,
  namespaced,
})
const groupType = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceType<T> => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
})

export const nodes = coreType<Node>('Node', 'nodes', false)
export const namespaces = coreType<Namespace>('Namespace', 'namespaces', false)
export const pods = coreType<Pod>('Pod', 'pods', true)
export const secrets = coreType<Secret>('Secret', 'secrets', true)
export const configMaps = coreType<ConfigMap>('ConfigMap', 'configmaps', true)
export const deployments = groupType<Deployment>('apps/v1', 'Deployment', 'deployments')
export const replicaSets = groupType<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets')
export const statefulSets = groupType<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets')
export const daemonSets = groupType<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets')
export const jobs = groupType<Job>('batch/v1', 'Job', 'jobs')
export const cronJobs = groupType<CronJob>('batch/v1', 'CronJob', 'cronjobs')
export const podDisruptionBudgets = groupType<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export const leases = groupType<Lease>('coordination.k8s.io/v1', 'Lease', 'leases')
export const events = groupType<KubeEvent>('events.k8s.io/v1', 'Event', 'events')
