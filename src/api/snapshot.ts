// What `slipway snapshot` saves and `slipway plan` reads. The schemas name every field that is kept; all others (environments,
// commands, contents of files, logs) are left behind when an object is parsed. No Secret and no ConfigMap is ever read.

import { z } from 'zod'
import type { DirectUpdate } from './direct-update.ts'
import { directUpdateSpecSchema, directUpdateStatusSchema } from './direct-update.ts'
import type { MaintenancePolicy } from './maintenance-policy.ts'
import { maintenancePolicySpecSchema, maintenancePolicyStatusSchema } from './maintenance-policy.ts'
import type { NodeProfile } from './node-profile.ts'
import type { NodeState } from './node-state.ts'
import {
  agentOrderSchema,
  agentStatusSchema,
  agentStepSchema,
  nodeStateSpecSchema,
  rolloutSchema,
} from './node-state.ts'
import { instantText } from './scalars.ts'
import { kubeParts, metadata, objectOf } from './snapshot-objects.ts'

/** Raised when an older program could misread what a newer one saved. */
export const snapshotVersion = 1

/** Logs and keys stay where they are. */
const nodeState = z.object({
  metadata,
  spec: nodeStateSpecSchema,
  status: z
    .object({
      rollout: rolloutSchema.optional(),
      completed: z.array(z.string()).optional(),
      agent: z
        .object({
          ...agentStatusSchema.shape,
          order: z
            .object({ ...agentOrderSchema.shape, steps: z.array(agentStepSchema.omit({ logTail: true }).strip()) })
            .optional(),
        })
        .omit({ publicKey: true, logs: true })
        .optional(),
    })
    .optional(),
})

/** Of files and units it is kept that they are there, not what is in them. */
const nodeProfile = z.object({
  metadata,
  spec: z.looseObject({}).transform((spec) => withoutContents(spec)),
})

/** One schema for each kind of object: parsing one takes what is needed and leaves the rest. */
export const snapshotParts = {
  ...kubeParts,
  nodeStates: objectOf<NodeState>(nodeState),
  nodeProfiles: objectOf<NodeProfile>(nodeProfile),
  directUpdates: objectOf<DirectUpdate>(
    z.object({ metadata, spec: directUpdateSpecSchema, status: directUpdateStatusSchema.optional() }),
  ),
  maintenancePolicies: objectOf<MaintenancePolicy>(
    z.object({ metadata, spec: maintenancePolicySpecSchema, status: maintenancePolicyStatusSchema.optional() }),
  ),
} as const

/** What a snapshot says of itself and of the cluster as a whole. */
export const snapshotHeadSchema = z.object({
  kind: z.literal('ClusterSnapshot'),
  version: z.literal(snapshotVersion),
  takenAt: instantText,
  serverVersion: z.string(),
  /** Whether the cluster knows our kinds: without them no agent can have reported. */
  installed: z.boolean(),
  /** The operator's pod that leads. */
  leader: z.string().optional(),
})

export type SnapshotPart = keyof typeof snapshotParts
export type ClusterSnapshot = Readonly<z.infer<typeof snapshotHeadSchema>> & {
  readonly [Part in SnapshotPart]: readonly z.infer<(typeof snapshotParts)[Part]>[]
}

function withoutContents(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'content' ? '' : inner)))
}
