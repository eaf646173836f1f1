// Backups of etcd: where they are kept, what one is asked for, and what became of it. One mechanism for all of them: the operator
// asks the agent of a control-plane host by NodeState.spec.backup, and the agent answers in its status.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { reasonSchema } from './reason.ts'
import { absolutePath, durationText, instantText, objectName, sha256Text, shapedText, webAddress } from './scalars.ts'
import { sealedTextSchema } from './sealed-text.ts'
import { cronText, zoneText } from './window.ts'

const bucketName = shapedText(
  255,
  '[A-Za-z0-9][A-Za-z0-9._-]*',
  'must be the name of a bucket, such as cluster-backups',
)
const prefix = shapedText(512, '[A-Za-z0-9._/-]*', 'must be a path within the bucket, such as prod/etcd').optional()
const authority = z.string().max(16_384).optional().describe('a certificate authority besides the well-known ones, PEM')

export const s3Schema = z.strictObject({
  bucket: bucketName,
  prefix,
  endpoint: webAddress.optional().describe('Default: the one of AWS for the region'),
  region: z.string().min(1).max(64).optional().describe('Default us-east-1'),
  addressing: z
    .enum(['Path', 'VirtualHost'])
    .optional()
    .describe('Default VirtualHost, Path where an endpoint is given'),
  ca: authority,
  secret: objectName.describe('keys accessKeyID and secretAccessKey, sessionToken where they are temporary'),
})

export const gcsSchema = z.strictObject({
  bucket: bucketName,
  prefix,
  endpoint: webAddress.optional().describe('Default https://storage.googleapis.com'),
  ca: authority,
  secret: objectName.describe(
    'key serviceAccountKey (the JSON of a service account), or accessKeyID and secretAccessKey (an HMAC key), or token (an OAuth access token, which ends within the hour: not for a schedule)',
  ),
})

export const nfsSchema = z.strictObject({
  server: z.string().min(1).max(253),
  path: absolutePath.describe('as the server exports it'),
  options: shapedText(256, '[A-Za-z0-9=,._:-]*', 'must be mount options such as vers=4.1,soft').optional(),
})

export const retentionSchema = z.strictObject({
  count: z.int().min(1).max(1000).optional().describe('how many are kept'),
  age: durationText.optional().describe('how old they may become'),
})

export const encryptionMethods = ['Age', 'Aes256Gcm'] as const

/** What a host must know of a store; what is secret in it comes sealed. */
const placeFields = {
  path: absolutePath.optional().describe('a folder on the control-plane hosts'),
  nfs: nfsSchema.optional(),
  s3: s3Schema.optional(),
  gcs: gcsSchema.optional(),
  encryption: z
    .strictObject({
      method: z.enum(encryptionMethods).optional().describe('Default Age'),
      secret: objectName.describe(
        'key "key": for Age an identity (AGE-SECRET-KEY-1…), a recipient (age1…) or a passphrase; for Aes256Gcm 32 bytes in base64',
      ),
    })
    .optional(),
  retention: retentionSchema.optional().describe('the newest good one always stays'),
}

export const verifications = ['Hash', 'Restore'] as const

const onePlace = 'names exactly one of path, nfs, s3 and gcs'
const onePlaceRule = 'size([has(self.path), has(self.nfs), has(self.s3), has(self.gcs)].filter(is, is)) == 1'

export const backupStoreSchema = z
  .strictObject({
    name: objectName,
    ...placeFields,
    schedule: z
      .strictObject({
        cron: cronText,
        timeZone: zoneText.optional(),
        verify: z.enum(verifications).optional().describe('Default Hash'),
      })
      .optional()
      .describe('backups besides those of updates'),
  })
  .refine(
    ({ path, nfs, s3, gcs }) => [path, nfs, s3, gcs].filter((place) => place !== undefined).length === 1,
    onePlace,
  )
  .meta(celRules({ rule: onePlaceRule, message: onePlace }))

/** The values of the Secrets a backup needs, each under the key it has there; other keys are not looked at. */
export const backupSecretsSchema = z.object({
  store: z
    .object({
      accessKeyID: z.string().optional(),
      secretAccessKey: z.string().optional(),
      sessionToken: z.string().optional(),
      token: z.string().optional(),
      serviceAccountKey: z.string().optional(),
    })
    .optional(),
  encryption: z.object({ key: z.string() }).optional(),
  etcd: z
    .object({
      'ca.crt': z.string().optional(),
      'tls.crt': z.string().optional(),
      'tls.key': z.string().optional(),
    })
    .optional(),
})

/** A name of an object in a store, without folders. */
const backupName = shapedText(200, '[A-Za-z0-9][A-Za-z0-9._-]*', 'must be the name of a backup')

export const storePlaceSchema = z.strictObject({ name: objectName, ...placeFields })

export const backupRequestSchema = z.strictObject({
  request: z.string().min(1).max(320).describe('names the question; the answer repeats it. Never two different ones'),
  name: backupName.describe('of the object in the store; the same question writes the same one'),
  verify: z.enum(verifications),
  store: storePlaceSchema,
  sealed: sealedTextSchema
    .optional()
    .describe('JSON of the values of the Secrets: { store: {…}, encryption: {…}, etcd: {…} }'),
  etcd: z
    .strictObject({ endpoints: z.array(webAddress).min(1).max(16) })
    .optional()
    .describe('an etcd that this host’s own files do not tell of; its certificates are sealed'),
  timeout: durationText,
})

/** What stands beside each backup in its store, as NAME.json. */
export const backupManifestSchema = z.strictObject({
  name: backupName,
  at: instantText,
  node: z.string().max(253),
  cluster: z
    .string()
    .max(64)
    .optional()
    .describe('the cluster: by the authority of its etcd (ca-…), else by the id of the etcd cluster'),
  etcd: z.string().max(64).describe('its version'),
  revision: z
    .string()
    .max(24)
    .describe(
      'of etcd when the snapshot was begun: it has this one or a later one, by the word of the member unless verified is Restore',
    ),
  sha256: sha256Text.describe('of the object as it is stored'),
  bytes: z.int().min(0).describe('of the object as it is stored'),
  snapshotSha256: sha256Text.describe('of the snapshot as a file, with the hash etcd puts at its end'),
  snapshotBytes: z.int().min(0),
  compression: z.enum(['zstd']),
  encryption: z.enum(encryptionMethods).optional(),
  verified: z.enum(verifications),
})

/** `backup-store.json` on the host, readable by root alone: where its last good backup went, for the day the API is gone. */
export const keptStoreSchema = z.strictObject({
  at: instantText,
  store: storePlaceSchema,
  secrets: backupSecretsSchema,
  manifest: backupManifestSchema,
})

export const maxBackupsListed = 50

export const backupAnswerSchema = z.strictObject({
  request: z.string().max(320),
  store: objectName,
  state: z.enum(['Running', 'Succeeded', 'Failed']),
  startedAt: instantText,
  finishedAt: instantText.optional(),
  reason: reasonSchema.optional(),
  location: z.string().max(2048).optional(),
  manifest: backupManifestSchema.optional(),
  removed: z.int().min(0).optional().describe('old ones that went, by the store’s retention'),
  kept: z
    .array(backupManifestSchema)
    .max(maxBackupsListed)
    .optional()
    .describe('what the store holds now, newest first, fifty at most'),
})

/** `backup.json` on the host: the last answer, so that nothing is done twice. */
export const backupRecordSchema = z.strictObject({ answer: backupAnswerSchema })

export type StorePlace = z.infer<typeof storePlaceSchema>
export type BackupSecrets = z.infer<typeof backupSecretsSchema>
export type KeptStore = z.infer<typeof keptStoreSchema>
export type EncryptionMethod = (typeof encryptionMethods)[number]
export type BackupStoreSpec = z.infer<typeof backupStoreSchema>
export type BackupRequest = z.infer<typeof backupRequestSchema>
export type BackupManifest = z.infer<typeof backupManifestSchema>
export type BackupAnswer = z.infer<typeof backupAnswerSchema>
export type Verification = (typeof verifications)[number]
export type Retention = z.infer<typeof retentionSchema>
