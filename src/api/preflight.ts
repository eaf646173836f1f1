// Preflight: what is looked at before the first node is touched. The names are part of the API: updates skip checks by them.

import { z } from 'zod'

export const checkNames = [
  'Agents',
  'VersionPath',
  'PackageVersion',
  'ApiReady',
  'NodesReady',
  'DiskSpace',
  'MemoryPressure',
  'VersionSkew',
  'TargetRequirements',
  'KubeletFlags',
  'RemovedApis',
  'DisruptionBudgets',
  'PodsUnderTwoBudgets',
  'Capacity',
  'Certificates',
  'Sources',
  'Bundle',
  'ClockSkew',
  'ControlPlaneEndpoint',
  'Webhooks',
  'PolicyBudgets',
] as const

export const checkResults = ['Passed', 'Warning', 'Failed', 'Unknown', 'Skipped'] as const

export const maxCheckMessage = 1024

export const preflightSchema = z.strictObject({
  skip: z
    .array(z.enum(checkNames))
    .max(checkNames.length)
    .optional()
    .describe('checks whose answer does not count; what they would have said stands in status.preflight'),
})

export const checkReportsSchema = z
  .array(
    z.strictObject({
      check: z.enum(checkNames),
      result: z.enum(checkResults),
      message: z.string().max(maxCheckMessage),
    }),
  )
  .max(checkNames.length)
  .describe('what was found before the first node was touched; Failed and Unknown keep the update from starting')

export type CheckName = (typeof checkNames)[number]
export type CheckReport = z.infer<typeof checkReportsSchema>[number]
