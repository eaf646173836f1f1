// The parts of Kubernetes' own objects that a snapshot keeps. Parsing one takes these fields and leaves all others behind.

import { z } from 'zod'
import { lockOwnerSchema, lockOwnersSchema } from './foreign-lock.ts'
import type * as kube from './kube.ts'

/** Parsing leaves absent fields absent, as the hand-written types of the API's objects have them. */
export const objectOf = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>

const texts = z.record(z.string(), z.string())
const keptAnnotations = new Set([
  'deployment.kubernetes.io/revision',
  'kubernetes.io/config.mirror',
  'cluster-autoscaler.kubernetes.io/scale-down-disabled',
  'karpenter.sh/do-not-disrupt',
])
const annotations = texts.transform((all) => Object.fromEntries(Object.entries(all).filter(([key]) => isKept(key))))

export const metadata = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().optional(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  deletionGracePeriodSeconds: z.number().optional(),
  labels: texts.optional(),
  annotations: annotations.optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z
    .array(
      z.object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().optional(),
        blockOwnerDeletion: z.boolean().optional(),
      }),
    )
    .optional(),
})

/** Other tools keep their locks on their DaemonSets, under a name that the policy may choose: they are told by their content. */
const lockable = metadata.extend({
  annotations: texts
    .transform((all) => Object.fromEntries(Object.entries(all).filter(([key, value]) => isKept(key) || isLock(value))))
    .optional(),
})

const conditions = z.array(
  z.object({
    type: z.string(),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.string().optional(),
    message: z.string().optional(),
    lastTransitionTime: z.string().nullish().transform(absent),
    lastHeartbeatTime: z.string().nullish().transform(absent),
  }),
)

const selector = z.object({
  matchLabels: texts.optional(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
})
const requirement = z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() })
const podTerms = z
  .object({
    requiredDuringSchedulingIgnoredDuringExecution: z
      .array(
        z.object({
          topologyKey: z.string(),
          labelSelector: selector.optional(),
          namespaces: z.array(z.string()).optional(),
        }),
      )
      .optional(),
  })
  .optional()

const container = z.object({
  name: z.string(),
  image: z.string(),
  restartPolicy: z.string().optional(),
  resources: z.object({ requests: z.record(z.string(), z.union([z.string(), z.number()])).optional() }).optional(),
})

const podSpec = z.object({
  nodeName: z.string().optional(),
  nodeSelector: texts.optional(),
  containers: z.array(container),
  initContainers: z.array(container).optional(),
  restartPolicy: z.string().optional(),
  terminationGracePeriodSeconds: z.number().optional(),
  tolerations: z
    .array(
      z.object({
        key: z.string().optional(),
        operator: z.string().optional(),
        value: z.string().optional(),
        effect: z.string().optional(),
        tolerationSeconds: z.number().optional(),
      }),
    )
    .optional(),
  affinity: z
    .object({
      nodeAffinity: z
        .object({
          requiredDuringSchedulingIgnoredDuringExecution: z
            .object({
              nodeSelectorTerms: z.array(
                z.object({
                  matchExpressions: z.array(requirement).optional(),
                  matchFields: z.array(requirement).optional(),
                }),
              ),
            })
            .optional(),
        })
        .optional(),
      podAffinity: podTerms,
      podAntiAffinity: podTerms,
    })
    .optional(),
  topologySpreadConstraints: z
    .array(
      z.object({
        maxSkew: z.number(),
        topologyKey: z.string(),
        whenUnsatisfiable: z.string(),
        labelSelector: selector.optional(),
      }),
    )
    .optional(),
  volumes: z
    .array(
      z.object({
        name: z.string(),
        emptyDir: z.object({}).optional(),
        persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
      }),
    )
    .optional(),
})

const template = z.object({ metadata: z.object({ labels: texts.optional() }).optional(), spec: podSpec })
const counts = z.record(z.string(), z.unknown()).transform((status) => numbersOf(status))
const countOrPercent = z.union([z.number(), z.string()])

const node = z.object({
  metadata,
  spec: z.object({
    unschedulable: z.boolean().optional(),
    taints: z
      .array(
        z.object({
          key: z.string(),
          value: z.string().optional(),
          effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
          timeAdded: z.string().nullish().transform(absent),
        }),
      )
      .optional(),
  }),
  status: z
    .object({
      conditions: conditions.optional(),
      nodeInfo: z.record(z.string(), z.unknown()).transform(textsOf).optional(),
      capacity: texts.optional(),
      allocatable: texts.optional(),
    })
    .optional(),
})

const pod = z.object({
  metadata,
  spec: podSpec,
  status: z
    .object({
      phase: z.string().optional(),
      startTime: z.string().nullish().transform(absent),
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .transform((all) => all.filter(({ type }) => type === 'Ready' || type === 'PodScheduled'))
        .optional(),
    })
    .optional(),
})

const workload = (spec: z.ZodRawShape) => z.object({ metadata, spec: z.object(spec), status: counts.optional() })
const replicated = { replicas: z.number().optional(), selector, template }

const budget = z.object({
  metadata,
  spec: z.object({
    minAvailable: countOrPercent.optional(),
    maxUnavailable: countOrPercent.optional(),
    selector: selector.optional(),
    unhealthyPodEvictionPolicy: z.string().optional(),
  }),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      disruptionsAllowed: z.number(),
      currentHealthy: z.number(),
      desiredHealthy: z.number(),
      expectedPods: z.number(),
    })
    .optional(),
})

const lock = z.union([lockOwnerSchema, lockOwnersSchema])

export const kubeParts = {
  nodes: objectOf<kube.Node>(node),
  pods: objectOf<kube.Pod>(pod),
  deployments: objectOf<kube.Deployment>(workload(replicated)),
  replicaSets: objectOf<kube.ReplicaSet>(workload({ ...replicated, template: template.optional() })),
  statefulSets: objectOf<kube.StatefulSet>(workload({ ...replicated, serviceName: z.string().optional() })),
  daemonSets: objectOf<kube.DaemonSet>(workload({ selector, template }).extend({ metadata: lockable })),
  jobs: objectOf<kube.Job>(
    workload({
      completions: z.number().optional(),
      parallelism: z.number().optional(),
      backoffLimit: z.number().optional(),
      template,
    }),
  ),
  podDisruptionBudgets: objectOf<kube.PodDisruptionBudget>(budget),
} as const

function isKept(key: string): boolean {
  return keptAnnotations.has(key) || key.startsWith('slipway.dev/')
}

function isLock(text: string): boolean {
  try {
    return lock.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

function absent<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined
}

function textsOf(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  )
}

function numbersOf(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (typeof value === 'number' ? [[key, value]] : [])),
  )
}
