// DirectUpdate: run one update now. Only fields that something acts on are here; strict validation refuses the others.

import { z } from 'zod'
import { backupRunSchema, updateBackupSchema, updateBackupsSchema } from './backup-plan.ts'
import { type CelRule, celRules } from './cel-rule.ts'
import { drainSettingsSchema } from './drain-settings.ts'
import { gateStatusesSchema, gatesSchema } from './gate.ts'
import { hookRunsSchema, hooksSchema } from './hook.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import { nodePhases } from './node-state.ts'
import { resolvedImageSchema } from './os-image.ts'
import { checkReportsSchema, preflightSchema } from './preflight.ts'
import { previewSchema } from './preview.ts'
import { reasonSchema } from './reason.ts'
import { durationText, instantText, labelSelector, objectName, sha256Text } from './scalars.ts'
import { operationTimeout, steeringFields, steeringStatusFields } from './steering.ts'
import { strategySchema, waveStatusSchema } from './strategy.ts'
import { versionPathSchema } from './version-path.ts'
import { windowsSchema } from './window.ts'
import {
  binaryWorkSchema,
  bundleSchema,
  kubernetesWishSchema,
  osWishSchema,
  rebootChoices,
  rollbackChoices,
  stampsSchema,
} from './work.ts'

/** What is done; one of them must be there. */
export const workFields = ['kubernetes', 'os', 'profile', 'script', 'binary', 'reboot'] as const

/** What is done, and to whom: a change of these is another operation. */
export const lastingFields = [...workFields, 'airGapped', 'nodeSelector', 'stamps'] as const

const nothingToDo = 'names nothing to do: set kubernetes.version, os, profile, script, binary or reboot'
const hasWork = workFields.map((field) => `has(self.${field})`).join(' || ')

const scriptReference = z.strictObject({
  configMap: objectName.describe('in the operator’s namespace; its key "script" is the content'),
  sha256: sha256Text,
})

export const directUpdateSpecSchema = z
  .strictObject({
    kubernetes: kubernetesWishSchema.optional(),
    os: osWishSchema.optional(),
    profile: objectName.optional().describe('a NodeProfile with rollout ByUpdate: rolled out under this strategy'),
    script: scriptReference
      .extend({ validate: scriptReference.optional().describe('run afterwards; its exit code decides') })
      .optional(),
    binary: binaryWorkSchema.optional(),
    reboot: z
      .enum(rebootChoices)
      .optional()
      .describe('after the work: IfRequired asks the operating system. Default Never; image switches reboot anyway'),
    rollback: z
      .enum(rollbackChoices)
      .optional()
      .describe(
        'when a step fails: go back to the previous OS deployment (Image, default), undo all that can be undone (All), or Never',
      ),
    airGapped: z
      .strictObject({ bundle: bundleSchema })
      .optional()
      .describe('packages and images come from this bundle only'),
    nodeSelector: labelSelector.optional(),
    stamps: stampsSchema
      .optional()
      .describe('empty files that each host gets when its work is done, for other programs that look for them'),
    strategy: strategySchema.optional(),
    windows: windowsSchema.optional().describe('when it may take nodes, narrower than the windows of the policy'),
    drain: drainSettingsSchema.optional(),
    preflight: preflightSchema.optional(),
    nodeTimeout: durationText.optional().describe('how long the work on one node may take. Default 30m'),
    dryRun: z.boolean().optional().describe('plan it and stop: the answer is in status.preview. Default false'),
    gates: gatesSchema.optional().describe('what must hold before it goes on; those of the policy hold on top'),
    hooks: hooksSchema.optional().describe('what is run or told before and after it, a wave or a node'),
    backup: updateBackupSchema.optional().describe('of etcd, before the nodes it says are taken'),
    operationTimeout,
    ...steeringFields,
  })
  .refine((spec) => workFields.some((field) => spec[field] !== undefined), nothingToDo)
  .meta(celRules({ rule: hasWork, message: nothingToDo }))

const isIdle =
  "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['InProgress', 'RequiresAttention', 'Paused'])"
const isDry = (self: string) => `(has(${self}.spec.dryRun) && ${self}.spec.dryRun)`

/** While nodes are being worked on, what is done to which of them stands; `self` is the whole object. */
export const directUpdateRules: readonly CelRule[] = [
  ...lastingFields.map((field) => ({
    rule: [
      isIdle,
      `has(self.spec.${field}) == has(oldSelf.spec.${field}) && (!has(self.spec.${field}) || self.spec.${field} == oldSelf.spec.${field})`,
    ].join(' || '),
    message: `${field} cannot change while the update runs: wait for its end, or cancel it first (spec.desiredState Cancelled)`,
    fieldPath: `.spec.${field}`,
  })),
  {
    rule: [isIdle, `!${isDry('self')}`, isDry('oldSelf')].join(' || '),
    message: 'an update that runs cannot become a dry run: pause or cancel it (spec.desiredState)',
    fieldPath: '.spec.dryRun',
  },
]

export const updatePhases = [
  'Pending',
  'Planning',
  'Planned',
  'InProgress',
  'Paused',
  'Succeeded',
  'Failed',
  'RequiresAttention',
  'Cancelled',
] as const

export const conditionSchema = z.strictObject({
  type: z.string().max(64),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().max(64),
  message: z.string().max(4096),
  lastTransitionTime: instantText,
  observedGeneration: z.int().optional(),
})

export const directUpdateStatusSchema = z.strictObject({
  observedGeneration: z.int().optional(),
  phase: z.enum(updatePhases).optional(),
  operationID: z.string().max(320).optional(),
  startedAt: instantText.optional(),
  finishedAt: instantText.optional(),
  progress: z.string().max(32).optional().describe('for the eye: 4/12'),
  preview: previewSchema.optional(),
  ...steeringStatusFields,
  wave: waveStatusSchema.optional(),
  warnings: z.array(reasonSchema).max(20).optional().describe('what a person should know, though it goes on'),
  path: versionPathSchema.optional(),
  osImage: resolvedImageSchema
    .optional()
    .describe('what os.image was found to name; every host gets this, whatever becomes of the tag'),
  preflight: checkReportsSchema.optional(),
  summary: z
    .strictObject({
      total: z.int(),
      done: z.int(),
      working: z.int(),
      waiting: z.int(),
      failed: z.int(),
      skipped: z.int(),
    })
    .optional(),
  nodes: z
    .array(
      z.strictObject({
        name: z.string().max(253),
        phase: z.enum(nodePhases),
        since: instantText.optional(),
        reason: reasonSchema.optional(),
      }),
    )
    .max(50)
    .optional()
    .describe('failed, under work and next, fifty at most; the rest is in NodeStates'),
  history: z
    .array(
      z.strictObject({
        generation: z.int(),
        operationID: z.string().max(320),
        phase: z.enum(updatePhases),
        startedAt: instantText,
        finishedAt: instantText,
      }),
    )
    .max(5)
    .optional(),
  gates: gateStatusesSchema.optional().describe('those that do not hold now'),
  hooks: hookRunsSchema.optional().describe('of the update and its waves; those of nodes stand in their NodeStates'),
  backups: updateBackupsSchema.optional(),
  backupRun: backupRunSchema.optional(),
  conditions: z.array(conditionSchema).max(16).optional(),
})

export type DirectUpdateSpec = z.infer<typeof directUpdateSpecSchema>
export type DirectUpdateStatus = z.infer<typeof directUpdateStatusSchema>
export type UpdatePhase = (typeof updatePhases)[number]
export type UpdateCondition = z.infer<typeof conditionSchema>

export interface DirectUpdate extends KubeObject {
  readonly spec: DirectUpdateSpec
  readonly status?: DirectUpdateStatus
}

export const directUpdates: ResourceType<DirectUpdate> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'DirectUpdate',
  plural: 'directupdates',
  namespaced: false,
}
