// NodeState: one per node, named as the node. The operator writes spec and status.rollout, that node's agent status.agent.

import { z } from 'zod'
import { backupAnswerSchema, backupRequestSchema } from './backup.ts'
import { controlPlaneQuestionSchema, controlPlaneReportSchema } from './control-plane.ts'
import { hookRunsSchema } from './hook.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import { preflightFacts } from './preflight-facts.ts'
import { reasonSchema } from './reason.ts'
import { absolutePath, durationText, instantText, objectName, sha256Text } from './scalars.ts'
import { contentSchema, maintenanceWorkSchema, rollbackChoices, workSchema } from './work.ts'

const identifier = z.string().min(1).max(320)

/** An order of twelve jobs, each with its validation and its record, and what may come with them. */
export const maxSteps = 48

export const operationKinds = ['DirectUpdate', 'NodeProfile', 'Maintenance'] as const

export const orderSchema = z.strictObject({
  id: identifier.describe('operation and attempt; an id never names two different orders'),
  kind: z
    .enum(operationKinds)
    .optional()
    .describe('what asked for it: a DirectUpdate (default), a NodeProfile, or maintenance by sentinel, job or reboot'),
  update: objectName.describe('the name of the resource this is for'),
  nodeUID: z.string().max(64).describe('an order for another machine of the same name is refused'),
  epoch: z
    .int()
    .min(0)
    .describe('the ledger’s epoch when the slot was granted; an older one than the agent has seen is refused'),
  role: z.enum(['ControlPlane', 'Worker']),
  offline: z.enum(['Allowed', 'Refused']).describe('whether a disruptive step may start while the API is away'),
  desired: z
    .enum(['Stage', 'Run', 'Withdraw', 'PutBack'])
    .describe(
      'Stage: fetch and check all that is needed while the node still works, then wait for Run. Withdraw: start nothing more. PutBack: undo what was done, or, where that cannot be, finish',
    ),
  bootID: z
    .string()
    .max(64)
    .optional()
    .describe('where the work may reboot: the boot it was decided in; in a later one the order is refused'),
  rollback: z.enum(rollbackChoices).optional().describe('what is undone when a step fails. Default Image'),
  timeout: durationText.describe('how long the whole order may take, by the host’s own clock'),
  work: workSchema,
})

export const nodePhases = [
  'Pending',
  'Staging',
  'Draining',
  'Assigned',
  'Working',
  'Verifying',
  'Done',
  'Failed',
  'RequiresAttention',
] as const

/** Where a pod that holds up a drain stands on the ladder. */
export const podDrainStates = ['Completing', 'Blocked', 'Terminating', 'Forced'] as const

export const rolloutSchema = z.strictObject({
  kind: z.enum(operationKinds).optional(),
  update: objectName,
  operationID: identifier,
  phase: z.enum(nodePhases),
  since: instantText,
  takenAt: instantText
    .optional()
    .describe('when its slot was granted; with finishedAt it says how long such a node takes'),
  deadline: instantText.optional().describe('after this the node is RequiresAttention; never a free slot'),
  attempt: z.int().min(1),
  retried: z.string().max(64).optional().describe('the spec.retry.token of the update when the node failed'),
  reason: reasonSchema.optional(),
  failure: reasonSchema
    .optional()
    .describe('why the attempt before this one failed: the node is not fit until this one ends well'),
  cordon: z
    .strictObject({ prior: z.enum(['Schedulable', 'Unschedulable']) })
    .optional()
    .describe('how the node was found; Unschedulable = a person’s cordon, which stays'),
  drain: z
    .strictObject({
      total: z.int().min(0),
      left: z.int().min(0),
      pods: z
        .array(z.strictObject({ pod: z.string().max(507), state: z.enum(podDrainStates), reason: reasonSchema }))
        .max(20)
        .describe('the pods that hold it up, twenty at most'),
    })
    .optional(),
  finishedAt: instantText.optional(),
})

export const agentStepSchema = z.strictObject({
  name: z.string().max(64),
  state: z.enum(['Pending', 'Running', 'Succeeded', 'Failed']),
  startedAt: instantText.optional(),
  finishedAt: instantText.optional(),
  attempts: z.int().min(0),
  reason: reasonSchema.optional(),
  logTail: z.string().max(4096).optional(),
})

export const agentOrderSchema = z.strictObject({
  id: identifier,
  state: z
    .enum(['Accepted', 'Staged', 'Running', 'Succeeded', 'Failed', 'Withdrawn', 'Refused', 'RequiresAttention'])
    .describe(
      'Succeeded, Failed, Withdrawn and Refused are the agent’s last word: nothing of this order will start again',
    ),
  acceptedAt: instantText.optional(),
  finishedAt: instantText.optional(),
  kubeletRestartedAt: instantText
    .optional()
    .describe('by the host’s clock; the node is healthy only with a heartbeat after this'),
  reason: reasonSchema.optional(),
  warnings: z.array(z.string().max(512)).max(16).optional().describe('what a person should know, though it went on'),
  rolledBack: z.boolean().optional().describe('what it had done was undone, as far as its rollback asks for that'),
  steps: z.array(agentStepSchema).max(maxSteps),
})

export const maxDoneJobs = 64
export const doneJobSchema = z.strictObject({ name: objectName, sha256: sha256Text, finishedAt: instantText })

export const agentStatusSchema = z.strictObject({
  version: z.string().max(64),
  bootID: z.string().max(64),
  epoch: z.int().min(0).describe('the highest ledger epoch seen in an order'),
  drivers: z.array(z.string().max(64)).max(32),
  facts: z.strictObject({
    os: z.string().max(256),
    kernel: z.string().max(256),
    architecture: z.string().max(32),
    kubelet: z.string().max(64).optional(),
    apiServer: z.string().max(64).optional(),
    versionsOnOffer: z.array(z.string().max(64)).max(100),
    packageManager: z.enum(['apt', 'dnf', 'yum']).optional(),
    imageManager: z.enum(['rpm-ostree', 'bootc', 'ostree']).optional(),
    osImage: z
      .strictObject({
        image: z.string().max(512),
        digest: z.string().max(128),
        version: z.string().max(128).optional(),
      })
      .optional()
      .describe('image-based hosts: what is booted'),
    runtime: z.string().max(128).optional().describe('as containerd 2.2.9'),
    etcd: z.string().max(64).optional(),
    rebootRequired: z.string().max(512).optional().describe('why the operating system asks for a reboot'),
    rebootUnknown: z
      .string()
      .max(512)
      .optional()
      .describe('why nothing on the host can tell whether it needs a reboot'),
    certificatesExpireAt: instantText
      .optional()
      .describe('the first of the control plane’s certificates to expire, authorities included'),
    authoritiesExpireAt: instantText
      .optional()
      .describe('the first of the control plane’s certificate authorities to expire; kubeadm renews none'),
    unrenewedExpireAt: instantText
      .optional()
      .describe('the first to expire of the certificates that kubeadm cannot renew, or does not know'),
    ...preflightFacts,
  }),
  order: agentOrderSchema.optional(),
  sentinels: z
    .strictObject({
      maintenanceRequired: instantText.optional(),
      maintenanceInProgress: instantText.optional(),
      rebootRequired: instantText.optional(),
      rebootAskedIn: z
        .string()
        .max(64)
        .optional()
        .describe('the boot in which the host first asked for that reboot; in a later one nothing is asked for'),
      rebootFiles: z
        .array(z.strictObject({ path: absolutePath, writtenAt: instantText.optional() }))
        .max(8)
        .optional()
        .describe(
          'the files that asked for it in that boot, as they were last; in a later boot another file, or one written at another time, asks for another reboot',
        ),
      failure: reasonSchema.optional().describe('what the maintenance script said went wrong'),
    })
    .optional()
    .describe('files on the host that ask for something, each with the time it was first seen'),
  profile: z
    .strictObject({
      applied: sha256Text.optional().describe('the desired state that was applied last'),
      appliedAt: instantText.optional(),
      checkedAt: instantText.optional().describe('when what is said of drift was first found so'),
      repaired: z
        .strictObject({ at: instantText, items: z.array(z.string().max(1100)).max(20) })
        .optional()
        .describe('the last items the agent put right by itself'),
      drift: z
        .array(z.strictObject({ item: z.string().max(1100), reason: reasonSchema }))
        .max(20)
        .optional(),
    })
    .optional(),
  controlPlane: controlPlaneReportSchema.optional(),
  jobs: z.array(doneJobSchema).max(maxDoneJobs).optional().describe('maintenance jobs this host has done'),
  publicKey: z.string().max(64).optional().describe('X25519, base64: what must stay secret is sealed to it'),
  logs: z
    .strictObject({
      request: z.string().max(64),
      file: z.string().max(256).optional(),
      bytes: z.int().min(0),
      gzip: z.string().max(700_000).describe('base64 of the gzip-compressed end of the log'),
      reason: reasonSchema.optional(),
    })
    .optional()
    .describe('the answer to spec.logs'),
  backup: backupAnswerSchema.optional(),
  backupStore: objectName
    .optional()
    .describe('the store whose settings and secrets lie on this host, in clear, for a restore without the API'),
  rollCall: z
    .string()
    .max(64)
    .optional()
    .describe('the spec.rollCall that all of this answers: nothing else is under way'),
})

export const maxLogBytes = 500_000

/** A person asks by this annotation on the NodeState, the operator passes it on in spec.logs, the agent answers in its status. */
export const logsAnnotation = 'slipway.dev/logs-request'

export const logQuestionSchema = z.strictObject({
  request: z.string().min(1).max(64).describe('names the question; the answer repeats it'),
  order: identifier.optional().describe('absent = the newest'),
  step: z.string().max(64).optional().describe('absent = all of them'),
  bytes: z.int().min(1).max(maxLogBytes),
})

export const nodeStateSpecSchema = z.strictObject({
  order: orderSchema.optional(),
  sentinels: z
    .strictObject({
      reboot: z.array(absolutePath).max(8).optional(),
      rebootCommand: z.array(z.string().max(1024)).min(1).max(16).optional(),
      maintenance: maintenanceWorkSchema.optional(),
    })
    .optional()
    .describe('files the agent watches for, from the MaintenancePolicy'),
  drift: z
    .strictObject({ desired: contentSchema, check: durationText, action: z.enum(['Repair', 'Report']) })
    .optional()
    .describe('the desired state the agent compares the host with while no order is open'),
  history: z
    .strictObject({ keepOperations: z.int().min(1).max(1000), keepFor: durationText })
    .optional()
    .describe('how long the folders of ended orders stay on the host'),
  logs: logQuestionSchema.optional(),
  hooks: hookRunsSchema
    .optional()
    .describe('hooks that ran for this node; a clean-up that is owed keeps the NodeState by a finalizer'),
  controlPlane: controlPlaneQuestionSchema.optional(),
  backup: backupRequestSchema.optional(),
  forgetStore: objectName.optional().describe('a backup store that is no more: what lies on the host of it goes'),
  rollCall: z
    .string()
    .max(64)
    .optional()
    .describe('asked after a restore of etcd; the agent repeats it when it has dealt with all of this'),
})
export const nodeStateStatusSchema = z.strictObject({
  rollout: rolloutSchema.optional(),
  completed: z
    .array(identifier)
    .max(20)
    .optional()
    .describe('earlier operations this node is done for: updates may overlap, and none works on a node twice'),
  failed: z
    .array(
      z.strictObject({
        operationID: identifier,
        phase: z.enum(['Failed', 'RequiresAttention']),
        attempt: z.int().min(1),
        retried: z.string().max(64).optional(),
        reason: reasonSchema.optional(),
      }),
    )
    .max(20)
    .optional()
    .describe(
      'earlier operations this node failed for: another one may take it, and the failure stands until it is tried again',
    ),
  agent: agentStatusSchema.optional(),
})

export type OperationKind = (typeof operationKinds)[number]
export type Order = z.infer<typeof orderSchema>
export type NodePhase = (typeof nodePhases)[number]
export type PodDrainState = (typeof podDrainStates)[number]
export type Rollout = z.infer<typeof rolloutSchema>
export type AgentStep = z.infer<typeof agentStepSchema>
export type AgentOrder = z.infer<typeof agentOrderSchema>
export type LogQuestion = z.infer<typeof logQuestionSchema>
export type DoneJob = z.infer<typeof doneJobSchema>
export type Sentinels = NonNullable<z.infer<typeof agentStatusSchema>['sentinels']>
export type RebootFile = NonNullable<Sentinels['rebootFiles']>[number]
export type SentinelFiles = NonNullable<z.infer<typeof nodeStateSpecSchema>['sentinels']>
export type AgentStatus = z.infer<typeof agentStatusSchema>

/** Owned by its Node (metadata.ownerReferences, one entry, with the Node's uid). */
export interface NodeState extends KubeObject {
  readonly spec: z.infer<typeof nodeStateSpecSchema>
  readonly status?: z.infer<typeof nodeStateStatusSchema>
}

export const nodeStates: ResourceType<NodeState> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'NodeState',
  plural: 'nodestates',
  namespaced: false,
}
