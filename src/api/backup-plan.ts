// When etcd is backed up and what became of it: what an update asks for, what a policy offers, and the records of both. What one
// host is asked, and answers, is in backup.ts.

import { z } from 'zod'
import { backupStoreSchema, verifications } from './backup.ts'
import { celRules } from './cel-rule.ts'
import { reasonSchema } from './reason.ts'
import { durationText, instantText, objectName, sha256Text, webAddress } from './scalars.ts'

const namedOnce = 'has a store name twice: each store has its own'
export const maxBackupStores = 8

export const backupStoresSchema = z
  .array(backupStoreSchema)
  .max(maxBackupStores)
  .refine((stores) => new Set(stores.map(({ name }) => name)).size === stores.length, namedOnce)
  .meta(celRules({ rule: 'self.all(a, self.exists_one(b, b.name == a.name))', message: namedOnce }))

export const externalEtcdSchema = z.strictObject({
  endpoints: z.array(webAddress).min(1).max(16),
  secret: objectName.describe('in the operator’s namespace; keys ca.crt, tls.crt and tls.key'),
})

export const etcdBackups = ['Required', 'IfConfigured', 'Never'] as const
export const backupPoints = ['ControlPlane', 'FirstWorker'] as const

export const updateBackupSchema = z.strictObject({
  etcd: z
    .enum(etcdBackups)
    .optional()
    .describe(
      'Required: whatever the update does; refused where there is no store. IfConfigured: where it changes Kubernetes, the operating system or a program, and the policy has a store. Default IfConfigured',
    ),
  store: objectName.optional().describe('one of the policy’s backupStores. Default: the first'),
  before: z
    .array(z.enum(backupPoints))
    .min(1)
    .max(backupPoints.length)
    .optional()
    .describe('before each control-plane node, and before the first worker. Default ControlPlane'),
  verify: z.enum(verifications).optional().describe('Default Hash'),
  maxAge: durationText
    .optional()
    .describe('an older one does not count when a node is to be taken; less than a minute is taken as one. Default 1h'),
})

/** How often one backup is tried before a person is called for. */
export const maxBackupTries = 3

export const backupRunSchema = z
  .strictObject({
    subject: z.string().max(320).describe('what it is for'),
    try: z.int().min(0),
    verify: z.enum(verifications).optional().describe('how it is checked, where whoever asked said so'),
    node: z.string().max(253).optional().describe('whom it is asked of now'),
    askedAt: instantText.optional(),
    notBefore: instantText.optional().describe('when it is tried again'),
    retried: z.string().max(64).optional().describe('the word for another attempt that had been said when it failed'),
    failures: z
      .array(z.strictObject({ node: z.string().max(253), at: instantText, reason: reasonSchema }))
      .max(maxBackupTries),
  })
  .describe('a backup that is being made, or could not be')

const backupFields = {
  node: z.string().max(253),
  location: z.string().max(2048),
  sha256: sha256Text.describe('of the object as it is stored'),
  bytes: z.int().min(0),
  revision: z
    .string()
    .max(24)
    .describe(
      'the member’s own when the snapshot was begun; read from the snapshot only where verified is Restore, which then has it or a later one',
    ),
  verified: z.enum(verifications),
  at: instantText,
}

export const maxUpdateBackups = 10

export const updateBackupsSchema = z
  .array(
    z.strictObject({
      step: z.string().max(128).describe('what it was made before, such as ControlPlane v1.36.3'),
      store: objectName,
      ...backupFields,
    }),
  )
  .max(maxUpdateBackups)
  .describe('made for this operation, the newest last, ten at most')

export const storeRecordSchema = z.strictObject({
  store: objectName,
  next: instantText.optional().describe('when its schedule is due'),
  scheduled: instantText.optional().describe('the last time of its schedule that was taken up'),
  asked: z.string().max(64).optional().describe('the last request of a person that was taken up'),
  run: backupRunSchema.optional(),
  lastSuccess: z.strictObject({ subject: z.string().max(320), name: z.string().max(200), ...backupFields }).optional(),
  lastFailure: z.strictObject({ subject: z.string().max(320), at: instantText, reason: reasonSchema }).optional(),
})

export const storeRecordsSchema = z
  .array(storeRecordSchema)
  .max(maxBackupStores)
  .describe('scheduled backups, and those a person asked for; those of updates stand in their status')

/** A person asks by this annotation on the MaintenancePolicy; status.backups of the policy tells what became of it. */
export const backupAnnotation = 'slipway.dev/backup-request'

export const backupDemandSchema = z.strictObject({
  request: z.string().min(1).max(64),
  store: objectName.optional(),
  verify: z.enum(verifications).optional(),
})

/** Among the drivers an agent tells of: it answers requests for backups. */
export const backupAbility = 'backup'

export type BackupPoint = (typeof backupPoints)[number]
export type UpdateBackupSpec = z.infer<typeof updateBackupSchema>
export type BackupRun = z.infer<typeof backupRunSchema>
export type UpdateBackup = z.infer<typeof updateBackupsSchema>[number]
export type StoreRecord = z.infer<typeof storeRecordSchema>
export type BackupDemand = z.infer<typeof backupDemandSchema>
