// Locks that other tools keep on the nodes of a cluster, as an annotation on their DaemonSet.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { labelKey, objectName } from './scalars.ts'

const onlyKured = 'maxOwners is for a lock of kured: Kustodian has one owner'

export const foreignLockSchema = z
  .strictObject({
    type: z.enum(['Kured', 'Kustodian']),
    daemonSet: z.strictObject({ namespace: objectName, name: objectName }),
    annotation: labelKey
      .optional()
      .describe('Default weave.works/kured-node-lock of kured, k8s.io/kustodian-node-lock of Kustodian'),
    maxOwners: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe('as kured’s --concurrency; Slipway is one owner, whatever it works on. Default 1'),
  })
  .refine(({ type, maxOwners }) => type === 'Kured' || maxOwners === undefined, onlyKured)
  .meta(celRules({ rule: "self.type == 'Kured' || !has(self.maxOwners)", message: onlyKured }))

export type ForeignLock = z.infer<typeof foreignLockSchema>

/** What kured and Kustodian write, and kured with more than one owner. Times to live are in nanoseconds, 0 = for ever. */
export const lockOwnerSchema = z.looseObject({
  nodeID: z.string().min(1),
  created: z.string().optional(),
  TTL: z.number().optional(),
})
export const lockOwnersSchema = z.looseObject({ maxOwners: z.number(), locks: z.array(lockOwnerSchema).nullish() })

export type LockOwner = z.infer<typeof lockOwnerSchema>
