// What the API server does differently from kind to kind: status sub-resource, generation, defaults, immutable fields.

import { foreignKinds } from '../../api/foreign-kinds.ts'
import type { PodSpec, ResourceType } from '../../api/kube.ts'
import { customGroup, isCustomKind, judgeCustomObject } from './custom-kinds.ts'
import { isJsonObject, type JsonObject, sameJson } from './json.ts'
import { invalid } from './refusals.ts'
import { type KindId, kindId, type StoredObject } from './stored-object.ts'

export interface KindRules {
  readonly hasStatus: boolean
  /** Whether a status given on create is kept (a kubelet registers its Node with one). */
  readonly keepsStatusOnCreate: boolean
  readonly hasGeneration: boolean
  /** Field selectors besides metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, (object: StoredObject) => string>>
  prepareNew(object: StoredObject): StoredObject
  judge(type: ResourceType, after: StoredObject, before: StoredObject | undefined): void
}

const plain: KindRules = {
  hasStatus: false,
  keepsStatusOnCreate: true,
  hasGeneration: false,
  fields: {},
  prepareNew: (object) => object,
  judge: () => undefined,
}

const workload: KindRules = { ...plain, hasStatus: true, keepsStatusOnCreate: false, hasGeneration: true }

const custom: KindRules = { ...workload, judge: judgeCustomObject }

const text = (value: unknown): string => (value === undefined ? '' : String(value))

const builtIn: Readonly<Record<KindId, KindRules>> = {
  'v1/Pod': {
    ...workload,
    fields: {
      'spec.nodeName': (pod) => text(pod.spec?.nodeName),
      'spec.restartPolicy': (pod) => text(pod.spec?.restartPolicy),
      'status.phase': (pod) => text(pod.status?.phase),
    },
    prepareNew: (pod) => ({
      ...pod,
      spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...pod.spec },
      status: { phase: 'Pending' },
    }),
    judge: judgePod,
  },
  'v1/Node': {
    ...plain,
    hasStatus: true,
    fields: { 'spec.unschedulable': (node) => text(node.spec?.unschedulable ?? false) },
    prepareNew: (node) => ({ ...node, spec: node.spec ?? {} }),
  },
  'v1/Namespace': {
    ...plain,
    hasStatus: true,
    keepsStatusOnCreate: false,
    fields: { 'status.phase': (namespace) => text(namespace.status?.phase) },
    prepareNew: (namespace) => ({
      ...namespace,
      metadata: {
        ...namespace.metadata,
        labels: { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }),
  },
  'v1/ConfigMap': { ...plain, judge: judgeConfigMap },
  'apps/v1/Deployment': { ...workload, prepareNew: withReplicas },
  'apps/v1/ReplicaSet': { ...workload, prepareNew: withReplicas },
  'apps/v1/StatefulSet': { ...workload, prepareNew: withReplicas },
  'apps/v1/DaemonSet': workload,
  'batch/v1/Job': workload,
  'policy/v1/PodDisruptionBudget': workload,
  'v1/PersistentVolumeClaim': { ...plain, hasStatus: true, keepsStatusOnCreate: false },
  ...Object.fromEntries(foreignKinds.map((type) => [kindId(type), workload])),
  'storage.k8s.io/v1/VolumeAttachment': { ...plain, hasStatus: true, keepsStatusOnCreate: false },
}

/** Undefined for a kind that this server does not serve: one of our group without its CRD. */
export function rulesOf(type: ResourceType): KindRules | undefined {
  if (type.apiVersion === customGroup) return isCustomKind(type) ? custom : undefined
  return builtIn[kindId(type)] ?? plain
}

function withReplicas(object: StoredObject): StoredObject {
  return { ...object, spec: { replicas: 1, ...object.spec } }
}

/** A pod's spec is fixed once made, but for images, tolerations and the like; nodeName is set by a Binding only. */
function judgePod(type: ResourceType, after: StoredObject, before: StoredObject | undefined): void {
  if (before === undefined) {
    const spec = after.spec as PodSpec | undefined
    if (spec?.containers === undefined || spec.containers.length === 0) {
      throw invalid(type, after.metadata.name, [{ field: 'spec.containers', message: 'Required value' }])
    }
    return
  }
  if (after.spec === before.spec || sameJson(fixedPart(after.spec), fixedPart(before.spec))) return
  const message =
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
  throw invalid(type, after.metadata.name, [{ field: 'spec', message }])
}

function fixedPart(spec: JsonObject | undefined): JsonObject {
  const { tolerations: _, activeDeadlineSeconds: __, containers, ...fixed } = spec ?? {}
  const named = Array.isArray(containers)
    ? containers.map((container: unknown) => (isJsonObject(container) ? { ...container, image: '' } : container))
    : containers
  return { ...fixed, containers: named }
}

function judgeConfigMap(type: ResourceType, after: StoredObject, before: StoredObject | undefined): void {
  if (before?.immutable !== true) return
  if (after.immutable === true && sameJson(after.data, before.data)) return
  const message = 'Forbidden: field is immutable when `immutable` is set'
  throw invalid(type, after.metadata.name, [{ field: 'data', message }])
}
