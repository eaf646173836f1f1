// The whole desired state of one host, computed from all its NodeProfiles. It travels as canonical JSON by its SHA-256; what
// must stay secret stands in it sealed to the host's key. Drop-ins and files of sysctls are files here like any other.

import { z } from 'zod'
import { removalChoices } from './node-profile.ts'
import {
  fileContent,
  fileFields,
  kernelArgument,
  packageFields,
  repositoryFields,
  sysctlKey,
  sysctlValue,
  unitFields,
} from './profile-items.ts'
import { objectName, unitName } from './scalars.ts'
import { sealedTextSchema } from './sealed-text.ts'

export const desiredFormat = 1

const origin = { profile: objectName, whenRemoved: z.enum(removalChoices) } as const

export const desiredFileSchema = z.strictObject({
  ...origin,
  path: fileFields.path,
  mode: z.string().max(4),
  owner: z.string().max(64),
  group: z.string().max(64),
  restarts: z.array(unitName).max(8),
  content: fileContent.optional(),
  sealed: sealedTextSchema.optional(),
})

export const desiredStateSchema = z.strictObject({
  format: z.literal(desiredFormat),
  repositories: z.array(z.strictObject({ ...origin, ...repositoryFields })).max(512),
  packages: z.array(z.strictObject({ ...origin, ...packageFields })).max(2048),
  files: z.array(desiredFileSchema).max(4096),
  units: z.array(z.strictObject({ ...origin, ...unitFields })).max(1024),
  sysctls: z.array(z.strictObject({ ...origin, key: sysctlKey, value: sysctlValue })).max(4096),
  kernelArguments: z
    .array(z.strictObject({ ...origin, argument: kernelArgument, wanted: z.boolean() }))
    .max(2048)
    .describe('to be there (wanted), or not to be there'),
})

export const emptyState: DesiredState = {
  format: desiredFormat,
  repositories: [],
  packages: [],
  files: [],
  units: [],
  sysctls: [],
  kernelArguments: [],
}

export type DesiredState = z.infer<typeof desiredStateSchema>
export type DesiredFile = z.infer<typeof desiredFileSchema>
export type DesiredPackage = DesiredState['packages'][number]
export type DesiredRepository = DesiredState['repositories'][number]
export type DesiredUnit = DesiredState['units'][number]
export type DesiredSysctl = DesiredState['sysctls'][number]
export type DesiredKernelArgument = DesiredState['kernelArguments'][number]
