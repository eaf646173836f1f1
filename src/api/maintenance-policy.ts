// MaintenancePolicy: one object, named `default`. Its status is the ledger, the only place that grants the right to disrupt.

import { z } from 'zod'
import type { CelRule } from './cel-rule.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import { countOrPercent, durationText, instantText } from './scalars.ts'

export const drainSettingsSchema = z.strictObject({
  timeout: durationText.optional().describe('after this the drain needs a person; it goes on trying. Default 30m'),
  podGracePeriod: durationText.optional().describe('overrides the pods’ own; absent = as each pod says'),
  unmanagedPods: z.enum(['Block', 'Delete']).optional().describe('pods nothing would make again. Default Block'),
  emptyDir: z.enum(['Delete', 'Block']).optional().describe('pods that keep data in an emptyDir. Default Delete'),
})

export const maintenancePolicySpecSchema = z.strictObject({
  paused: z.boolean().optional().describe('emergency stop: nothing new starts, anywhere'),
  budgets: z
    .array(
      z.strictObject({
        maxUnavailable: countOrPercent.describe('of all nodes of the cluster, whatever they are away for'),
      }),
    )
    .max(16)
    .optional(),
  drain: drainSettingsSchema.optional(),
})

export const grantSchema = z.strictObject({
  node: z.string().max(253),
  nodeUID: z.string().max(64),
  holder: z.string().max(320).describe('the operation that holds the node'),
  since: instantText,
})

export const maintenancePolicyStatusSchema = z.strictObject({
  ledger: z.strictObject({ epoch: z.int().min(0), grants: z.array(grantSchema).max(10_000) }).optional(),
})

export type DrainSettings = z.infer<typeof drainSettingsSchema>
export type Grant = z.infer<typeof grantSchema>
export interface Ledger {
  readonly epoch: number
  readonly grants: readonly Grant[]
}

export interface MaintenancePolicy extends KubeObject {
  readonly spec: z.infer<typeof maintenancePolicySpecSchema>
  readonly status?: z.infer<typeof maintenancePolicyStatusSchema>
}

export const policyName = 'default'

export const maintenancePolicyRules: readonly CelRule[] = [
  {
    rule: `self.metadata.name == '${policyName}'`,
    message: `metadata.name must be ${policyName}: a cluster has one MaintenancePolicy`,
  },
]

export const maintenancePolicies: ResourceType<MaintenancePolicy> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'MaintenancePolicy',
  plural: 'maintenancepolicies',
  namespaced: false,
}
