// The kinds of CUPCAKE (cupcake.ricardomolendijk.com/v1), as its users wrote them. Nothing is refused here that its own
// definitions took: what cannot be carried out is told in the status instead.

import { z } from 'zod'
import type { KubeObject, ResourceType } from './kube.ts'
import { instantText } from './scalars.ts'

export const cupcakeGroup = 'cupcake.ricardomolendijk.com'
const apiVersion = `${cupcakeGroup}/v1`

/** On a DirectUpdate: `true` keeps it from starting anything new. */
export const cupcakePaused = `${cupcakeGroup}/paused`

/** On each Node while, and after, an operation works on it. */
export const cupcakeNodeMarks = {
  operation: `${cupcakeGroup}/operation-id`,
  version: `${cupcakeGroup}/target-version`,
  components: `${cupcakeGroup}/components`,
  status: `${cupcakeGroup}/status`,
} as const

/** Its framework puts this on every object; nobody else would take it off once its operator is gone. */
export const kopfFinalizer = 'kopf.zalando.org/KopfFinalizerMarker'

export const cupcakeStrategies = ['rolling', 'parallel', 'canary'] as const

const targetVersion = z.string().describe('a Kubernetes version such as 1.36.3')
const strategy = z.enum(cupcakeStrategies).default('rolling')
const concurrency = z.int().min(1).default(1).describe('how many workers at once')
const preflightChecks = z.boolean().default(true)
const nodeSelector = z.record(z.string(), z.string()).optional().describe('labels that a node must all have')
const canary = z
  .object({
    enabled: z.boolean().optional(),
    nodes: z.array(z.string()).optional().describe('workers that come before the others'),
  })
  .optional()
const airGapped = z
  .object({
    enabled: z.boolean().optional(),
    bundleConfigMap: z
      .string()
      .optional()
      .describe('in the operator’s namespace or kube-system, with the keys url and sha256'),
  })
  .optional()

/** Also what is no component: only a DirectUpdate's were held to a list. */
const anyComponents = (...names: readonly string[]) => z.array(z.string()).default([...names])

export const cupcakeDirectSpecSchema = z.object({
  targetVersion,
  components: z
    .array(z.enum(['kubeadm', 'kubelet', 'kubectl', 'containerd', 'etcd']))
    .default(['kubeadm', 'kubelet', 'kubectl']),
  ...{ strategy, concurrency, canary, nodeSelector, preflightChecks, airGapped },
  dryRun: z.boolean().default(false),
  operationTimeout: z.string().default('2h'),
  nodeTimeout: z.string().default('30m'),
})

export const cupcakeScheduledSpecSchema = z.object({
  targetVersion,
  scheduleAt: z.string().meta({ format: 'date-time' }).describe('when it starts'),
  components: anyComponents('kubeadm', 'kubelet', 'kubectl'),
  ...{ strategy, concurrency, canary, nodeSelector, preflightChecks, airGapped },
})

export const cupcakeScheduleSpecSchema = z.object({
  schedule: z.string().describe('a cron expression, in the time zone of maintenanceWindow'),
  updatePolicy: z.object({
    targetVersionPattern: z.string().describe('such as 1.36.* or latest-patch'),
    components: anyComponents('kubeadm', 'kubelet'),
    ...{ strategy, concurrency, preflightChecks },
  }),
  suspended: z.boolean().default(false),
  maintenanceWindow: z
    .object({
      start: z.string().optional().describe('as 22:00'),
      end: z.string().optional().describe('as 04:00'),
      timezone: z.string().default('UTC'),
    })
    .optional(),
})

export const cupcakePhases = ['Pending', 'InProgress', 'Succeeded', 'Failed', 'RequiresAttention', 'Cancelled'] as const

export const cupcakeNodePhases = [
  'Pending',
  'Draining',
  'Upgrading',
  'Verifying',
  'Uncordoning',
  'Completed',
  'Failed',
] as const

const text = z.string().optional()
const instant = instantText.optional()
const count = z.int().optional()

const nodeStatus = z.object({
  phase: z.enum(cupcakeNodePhases).optional(),
  lastStep: text,
  startedAt: instant,
  lastUpdated: instant,
  completedAt: instant,
  message: text,
  error: text,
})

export const cupcakeDirectStatusSchema = z.object({
  phase: z.enum(cupcakePhases).optional(),
  operationID: text,
  startedAt: instant,
  lastUpdated: instant,
  completedAt: instant,
  message: text,
  nodes: z.record(z.string(), nodeStatus).optional(),
  summary: z.object({ total: count, completed: count, upgrading: count, pending: count, failed: count }).optional(),
  preflightResults: z
    .object({
      passed: z.boolean().optional(),
      checks: z.array(z.object({ name: text, passed: z.boolean().optional(), message: text })).optional(),
    })
    .optional(),
  upgradePath: z
    .object({
      currentVersion: text,
      targetVersion: text,
      steps: z.array(z.string()).optional(),
      currentStep: count,
      totalSteps: count,
    })
    .optional(),
  backupInfo: z.object({ etcdSnapshot: text, timestamp: instant }).optional(),
})

export const cupcakeScheduledStatusSchema = z.object({
  phase: z.enum(['Scheduled', 'Executing', 'Completed', 'Failed', 'Cancelled']).optional(),
  scheduledFor: instant,
  executedAt: instant,
  directUpdateName: text,
  message: text,
})

export const cupcakeScheduleStatusSchema = z.object({
  lastScheduledTime: instant,
  nextScheduledTime: instant,
  lastUpdateName: text,
  active: count,
})

export type CupcakeDirectSpec = z.infer<typeof cupcakeDirectSpecSchema>
export type CupcakeScheduledSpec = z.infer<typeof cupcakeScheduledSpecSchema>
export type CupcakeScheduleSpec = z.infer<typeof cupcakeScheduleSpecSchema>
export type CupcakePhase = (typeof cupcakePhases)[number]
export type CupcakeNodePhase = (typeof cupcakeNodePhases)[number]
export type CupcakeNodeStatus = z.infer<typeof nodeStatus>
export type CupcakeDirectStatus = z.infer<typeof cupcakeDirectStatusSchema>
export type CupcakeScheduledStatus = z.infer<typeof cupcakeScheduledStatusSchema>
export type CupcakeScheduleStatus = z.infer<typeof cupcakeScheduleStatusSchema>

/** Their specs are what others' definitions let through, so they are read through the schemas above. */
export interface CupcakeDirectUpdate extends KubeObject {
  readonly spec?: unknown
  readonly status?: CupcakeDirectStatus
}
export interface CupcakeScheduledUpdate extends KubeObject {
  readonly spec?: unknown
  readonly status?: CupcakeScheduledStatus
}
export interface CupcakeUpdateSchedule extends KubeObject {
  readonly spec?: unknown
  readonly status?: CupcakeScheduleStatus
}

const kind = <T extends KubeObject>(name: string, plural: string): ResourceType<T> => ({
  apiVersion,
  kind: name,
  plural,
  namespaced: false,
})

export const cupcakeDirectUpdates = kind<CupcakeDirectUpdate>('DirectUpdate', 'directupdates')
export const cupcakeScheduledUpdates = kind<CupcakeScheduledUpdate>('ScheduledUpdate', 'scheduledupdates')
export const cupcakeUpdateSchedules = kind<CupcakeUpdateSchedule>('UpdateSchedule', 'updateschedules')
