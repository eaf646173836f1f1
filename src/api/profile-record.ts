// What the agent remembers on the host about the profiles it applied: what it added and what it replaced, written before the
// first change, so that removing a profile can take everything back.

import { z } from 'zod'
import { desiredStateSchema } from './desired-state.ts'
import { removalChoices } from './node-profile.ts'
import { instantText, sha256Text } from './scalars.ts'

const whenRemoved = z.enum(removalChoices)
const path = z.string().max(1024)
const unit = z.string().max(255)

/** What lay at a path before: nothing (and which folders were missing on the way), a text file, or a link. */
export const priorFileSchema = z.union([
  z.strictObject({ kind: z.literal('none'), missingFolders: z.array(path).max(512) }),
  z.strictObject({
    kind: z.literal('file'),
    content: z.string().max(1_100_000),
    mode: z.int(),
    owner: z.string().max(64),
    group: z.string().max(64),
  }),
  z.strictObject({ kind: z.literal('link'), target: z.string().max(4096) }),
])

export const managedFileSchema = z.strictObject({
  path,
  role: z.enum(['File', 'Repository']).describe('repositories come before packages and go after them'),
  whenRemoved,
  restarts: z.array(unit).max(8),
  prior: priorFileSchema,
})

export const managedUnitSchema = z.strictObject({
  name: unit,
  whenRemoved,
  enabled: z.boolean().optional().describe('before it was managed; absent = never managed'),
  active: z.boolean().optional().describe('before it was managed; absent = never managed'),
})

export const managedSysctlSchema = z.strictObject({
  key: z.string().max(128),
  whenRemoved,
  prior: z.string().max(4096),
})

export const managedPackageSchema = z.strictObject({
  name: z.string().max(256),
  whenRemoved,
  prior: z
    .strictObject({ version: z.string().max(256), held: z.boolean() })
    .optional()
    .describe('absent = it was not installed'),
  wanted: z.boolean().describe('false: it came along as a dependency'),
})

export const managedKernelArgumentSchema = z.strictObject({
  argument: z.string().max(256),
  whenRemoved,
  wasThere: z.boolean(),
})

export const appliedStateSchema = z.strictObject({ sha256: sha256Text, at: instantText, state: desiredStateSchema })

/** A note of an order: what was applied before it, to go back to. */
export const stateBeforeSchema = z.strictObject({ applied: appliedStateSchema.optional() })

/** A note of an order: the kernel arguments it took back for the next boot. The record forgets them before that boot has come. */
export const argumentChangeSchema = z.strictObject({
  add: z.array(z.string().max(1024)).max(2048),
  remove: z.array(z.string().max(1024)).max(2048),
})

/** `profile.json` in the state folder; absent = no profile is applied and nothing is managed. */
export const profileRecordSchema = z.strictObject({
  applied: appliedStateSchema.optional().describe('the desired state that was applied last, whole'),
  files: z.array(managedFileSchema).max(8192),
  units: z.array(managedUnitSchema).max(2048),
  sysctls: z.array(managedSysctlSchema).max(8192),
  packages: z.array(managedPackageSchema).max(10_000),
  kernelArguments: z.array(managedKernelArgumentSchema).max(4096),
  pending: z
    .strictObject({ reload: z.boolean(), restarts: z.array(unit).max(1024) })
    .describe('what files that changed still ask of systemd'),
})

export const emptyRecord: ProfileRecord = {
  files: [],
  units: [],
  sysctls: [],
  packages: [],
  kernelArguments: [],
  pending: { reload: false, restarts: [] },
}

export type PriorFile = z.infer<typeof priorFileSchema>
export type ManagedFile = z.infer<typeof managedFileSchema>
export type ManagedUnit = z.infer<typeof managedUnitSchema>
export type ManagedSysctl = z.infer<typeof managedSysctlSchema>
export type ManagedPackage = z.infer<typeof managedPackageSchema>
export type ManagedKernelArgument = z.infer<typeof managedKernelArgumentSchema>
export type AppliedState = z.infer<typeof appliedStateSchema>
export type ProfileRecord = z.infer<typeof profileRecordSchema>
