// NodeProfile: what every host of a kind should have, kept true. Removing it takes back what it added.

import { z } from 'zod'
import { type CelRule, celRules } from './cel-rule.ts'
import { conditionSchema } from './direct-update.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import {
  dataKey,
  fileSchema,
  kernelArgument,
  packageSchema,
  repositorySchema,
  sysctlsSchema,
  unitSchema,
} from './profile-items.ts'
import { durationText, labelSelector, objectName } from './scalars.ts'
import { retrySchema } from './steering.ts'
import { profileStrategySchema, profileWaveSchema } from './strategy.ts'

const itemFields = ['repositories', 'packages', 'files', 'units', 'kernelArguments', 'sysctls'] as const
const nothingWanted = 'names nothing: set repositories, packages, files, units, kernelArguments or sysctls'

/** A list in which nothing may stand twice. */
function listOf<T extends z.ZodType<Readonly<Record<K, string>>>, K extends string>(item: T, max: number, key: K) {
  const message = `lists one ${key} twice: merge the two`
  return z
    .array(item)
    .max(max)
    .refine((items) => new Set(items.map((one) => one[key])).size === items.length, message)
    .meta(celRules({ rule: `self.all(one, self.exists_one(other, other.${key} == one.${key}))`, message }))
}

const bothWays = 'adds and removes one kernel argument: decide for one'

const kernelArgumentsSchema = z
  .strictObject({
    add: z.array(kernelArgument).max(32).optional(),
    remove: z.array(kernelArgument).max(32).optional(),
  })
  .refine(({ add = [], remove = [] }) => !add.some((argument) => remove.includes(argument)), bothWays)
  .meta(
    celRules({
      rule: '!has(self.add) || !has(self.remove) || !self.add.exists(one, one in self.remove)',
      message: bothWays,
    }),
  )

export const disruptions = ['Auto', 'None', 'Drain', 'Reboot'] as const
export const removalChoices = ['Restore', 'Keep'] as const

export const nodeProfileSpecSchema = z
  .strictObject({
    nodeSelector: labelSelector.optional(),
    priority: z
      .int()
      .min(-1000)
      .max(1000)
      .optional()
      .describe('where two profiles want different things the higher one wins; equal ones are refused. Default 0'),
    repositories: listOf(repositorySchema, 16, 'name').optional(),
    packages: listOf(packageSchema, 64, 'name').optional(),
    files: listOf(fileSchema, 64, 'path').optional(),
    units: listOf(unitSchema, 32, 'name').optional(),
    kernelArguments: kernelArgumentsSchema.optional(),
    sysctls: sysctlsSchema.optional(),
    rollout: z
      .enum(['Automatic', 'ByUpdate'])
      .optional()
      .describe('ByUpdate: a change waits for a DirectUpdate that names this profile. Default Automatic'),
    disruption: z
      .enum(disruptions)
      .optional()
      .describe('what a change does to a node. Auto: nothing, a drain or a reboot, by what changed. Default Auto'),
    whenRemoved: z
      .enum(removalChoices)
      .optional()
      .describe('what becomes of an item that is not wanted any more: as it was before, or left. Default Restore'),
    strategy: profileStrategySchema.optional(),
    retry: retrySchema
      .optional()
      .describe('try nodes again on which it failed or that need a person; slipway retry --profile writes it'),
    drift: z
      .strictObject({
        check: durationText.optional().describe('how often a host is compared, besides file notification. Default 10m'),
        action: z.enum(['Repair', 'Report']).optional().describe('Default Repair'),
      })
      .optional(),
  })
  .refine((spec) => itemFields.some((field) => spec[field] !== undefined), nothingWanted)
  .meta(celRules({ rule: itemFields.map((field) => `has(self.${field})`).join(' || '), message: nothingWanted }))

/** The name becomes part of a file name on the hosts; `self` is the whole object. */
export const nodeProfileRules: readonly CelRule[] = [
  {
    rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
    message: 'metadata.name must be at most 63 lower-case letters, digits and -',
  },
]

export const profilePhases = ['Pending', 'Refused', 'Waiting', 'Applying', 'Applied', 'Failed', 'Removing'] as const

const secretVersionSchema = z.strictObject({
  secret: objectName,
  key: dataKey,
  version: z.string().max(128).describe('of the write that brought the value: uid and resourceVersion'),
  writtenAs: z.string().max(128).describe('the latest write that left the value as it was'),
})

export const nodeProfileStatusSchema = z.strictObject({
  observedGeneration: z.int().optional(),
  phase: z.enum(profilePhases).optional(),
  operationID: z.string().max(320).optional(),
  nodes: z
    .strictObject({ total: z.int(), applied: z.int(), drifted: z.int(), failed: z.int() })
    .optional()
    .describe('of the nodes it selects'),
  waves: z.array(profileWaveSchema).max(2).optional(),
  secretVersions: z
    .array(secretVersionSchema)
    .max(64)
    .optional()
    .describe('Secrets of its files that were written again with the same value: no change for hosts'),
  conditions: z.array(conditionSchema).max(16).optional(),
})

export type NodeProfileSpec = z.infer<typeof nodeProfileSpecSchema>
export type NodeProfileStatus = z.infer<typeof nodeProfileStatusSchema>
export type SecretVersion = z.infer<typeof secretVersionSchema>
export type Disruption = (typeof disruptions)[number]
export type ProfilePhase = (typeof profilePhases)[number]

export interface NodeProfile extends KubeObject {
  readonly spec: NodeProfileSpec
  readonly status?: NodeProfileStatus
}

export const nodeProfiles: ResourceType<NodeProfile> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'NodeProfile',
  plural: 'nodeprofiles',
  namespaced: false,
}
