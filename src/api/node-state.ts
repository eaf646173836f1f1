// NodeState: one per node, named as the node. The operator writes spec and status.rollout, that node's agent status.agent.

import { z } from 'zod'
import type { KubeObject, ResourceType } from './kube.ts'
import { reasonSchema } from './reason.ts'
import { durationText, instantText, kubernetesVersion, objectName, sha256Text } from './scalars.ts'

const identifier = z.string().min(1).max(320)

export const workSchema = z
  .strictObject({
    kubernetes: z.strictObject({ version: kubernetesVersion }).optional(),
    script: z
      .strictObject({
        configMap: objectName.describe(
          'an immutable ConfigMap in the operator’s namespace; its key "script" is the content',
        ),
        namespace: objectName,
        sha256: sha256Text,
      })
      .optional(),
  })
  .describe('what the agent does, in this order: script, kubernetes')

export const orderSchema = z.strictObject({
  id: identifier.describe('operation and attempt; an id never names two different orders'),
  update: objectName.describe('the DirectUpdate this is for'),
  nodeUID: z.string().max(64).describe('an order for another machine of the same name is refused'),
  epoch: z
    .int()
    .min(0)
    .describe('the ledger’s epoch when the slot was granted; an older one than the agent has seen is refused'),
  role: z.enum(['ControlPlane', 'Worker']),
  offline: z.enum(['Allowed', 'Refused']).describe('whether a disruptive step may start while the API is away'),
  desired: z.enum(['Run', 'Withdraw']),
  timeout: durationText.describe('how long the whole order may take, by the host’s own clock'),
  work: workSchema,
})

export const nodePhases = [
  'Pending',
  'Draining',
  'Assigned',
  'Working',
  'Verifying',
  'Done',
  'Failed',
  'RequiresAttention',
] as const

export const rolloutSchema = z.strictObject({
  update: objectName,
  operationID: identifier,
  phase: z.enum(nodePhases),
  since: instantText,
  deadline: instantText.optional().describe('after this the node is RequiresAttention; never a free slot'),
  attempt: z.int().min(1),
  reason: reasonSchema.optional(),
  cordon: z
    .strictObject({ prior: z.enum(['Schedulable', 'Unschedulable']) })
    .optional()
    .describe('how the node was found; Unschedulable = a person’s cordon, which stays'),
  drain: z
    .strictObject({
      total: z.int().min(0),
      left: z.int().min(0),
      pods: z
        .array(z.strictObject({ pod: z.string().max(507), reason: reasonSchema }))
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
    .enum(['Accepted', 'Running', 'Succeeded', 'Failed', 'Withdrawn', 'Refused', 'RequiresAttention'])
    .describe(
      'Succeeded, Failed, Withdrawn and Refused are the agent’s last word: nothing of this order will start again',
    ),
  acceptedAt: instantText.optional(),
  finishedAt: instantText.optional(),
  kubeletRestartedAt: instantText
    .optional()
    .describe('by the host’s clock; the node is healthy only with a heartbeat after this'),
  reason: reasonSchema.optional(),
  steps: z.array(agentStepSchema).max(32),
})

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
  }),
  order: agentOrderSchema.optional(),
})

export const nodeStateSpecSchema = z.strictObject({ order: orderSchema.optional() })
export const nodeStateStatusSchema = z.strictObject({
  rollout: rolloutSchema.optional(),
  completed: z
    .array(identifier)
    .max(20)
    .optional()
    .describe('earlier operations this node is done for: updates may overlap, and none works on a node twice'),
  agent: agentStatusSchema.optional(),
})

export type Work = z.infer<typeof workSchema>
export type Order = z.infer<typeof orderSchema>
export type NodePhase = (typeof nodePhases)[number]
export type Rollout = z.infer<typeof rolloutSchema>
export type AgentStep = z.infer<typeof agentStepSchema>
export type AgentOrder = z.infer<typeof agentOrderSchema>
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
