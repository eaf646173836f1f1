// The small values that many resources share, each with the bound the API server needs to price a CEL rule that reaches it.

import { z } from 'zod'

/** `30s`, `30m`, `1h30m`: hours, minutes, seconds in that order, each at most once, more than nothing in all. */
export const durationText = z
  .string()
  .min(2)
  .max(16)
  .regex(/^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$/)
  .describe('a duration such as 30s, 30m or 1h30m')

/** A count, or a percentage that is rounded down but never below 1. */
export const countOrPercent = z
  .union([
    z.int().min(1).max(100_000),
    z
      .string()
      .max(4)
      .regex(/^([1-9][0-9]?|100)%$/),
  ])
  .describe('a number of nodes (at least 1) or a percentage such as 10%')

export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)

export const sha256Text = z
  .string()
  .length(64)
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 in lower-case hexadecimal')

/** RFC 3339, as the API server writes it. */
export const instantText = z.string().max(40).meta({ format: 'date-time' })

export const kubernetesVersion = z
  .string()
  .max(64)
  .regex(/^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/)
  .describe('a Kubernetes version such as v1.36.3')

const labelKey = z.string().min(1).max(317)
const labelValue = z.string().max(63)

/** A standard label selector; both parts must hold. */
export const labelSelector = z
  .strictObject({
    matchLabels: z.record(labelKey, labelValue).optional(),
    matchExpressions: z
      .array(
        z.strictObject({
          key: labelKey,
          operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: z.array(labelValue).max(100).optional(),
        }),
      )
      .max(20)
      .optional(),
  })
  .describe('a standard label selector; absent = all nodes')
