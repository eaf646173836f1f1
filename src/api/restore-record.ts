// What a restore of etcd on this host was to do and how far it came: `restore/record.json` in the state folder. Whoever finds it goes
// on with it, or puts back what was there.

import { z } from 'zod'

const text = z.string().max(4096)

/** In this order; each may be repeated. */
export const restoreSteps = [
  'Stop',
  'PutAside',
  'Restore',
  'Place',
  'StartEtcd',
  'Mark',
  'StartControlPlane',
  'Check',
] as const

const accessSchema = z.strictObject({
  url: text,
  ca: text.optional(),
  certificate: text.optional(),
  key: text.optional(),
})

/** etcd on this host, and the control plane beside it, by their own settings. */
export const memberSiteSchema = z.strictObject({
  kind: z.enum(['StaticPod', 'Service']),
  name: text,
  dataDir: text,
  peerURLs: text,
  initialCluster: text.describe('as its own flags say: kubeadm names the members there were when this one joined'),
  etcd: accessSchema,
  manifests: text.describe('the folder the kubelet takes static pods from'),
  components: z.array(z.strictObject({ name: text, argv: z.array(text) })).describe('static pods that are stopped'),
  apiServer: accessSchema.optional(),
  prefix: text.describe('of the API server’s keys in etcd'),
})

export const restoreIdSchema = z.string().regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits')

export const restoreRecordSchema = z.strictObject({
  restoreId: restoreIdSchema.describe('drawn on the first host, given to the others'),
  isFirst: z.boolean().describe('whether it was drawn here'),
  mark: z.string().max(64).describe('the same on every member of this restore, and on those of no other'),
  startedAt: z.string().max(64),
  backup: z.strictObject({
    name: text,
    revision: text,
    etcd: text,
    snapshotSha256: text,
    otherCluster: text.optional().describe('of which it is, where that is another one than this host’s'),
  }),
  site: memberSiteSchema,
  members: text.describe('--initial-cluster of all members'),
  etcdutl: text,
  snapshot: text,
  source: z
    .strictObject({
      file: text.optional(),
      folder: text.optional().describe('on this host, with the backup and its manifest'),
      settings: text.optional(),
      keyFile: text.optional(),
    })
    .optional()
    .describe('the files of this host that the backup was read by: the other members need them, too'),
  aside: text,
  parked: text,
  begun: z.array(z.enum(restoreSteps)),
  done: z.array(z.enum(restoreSteps)),
  undoing: z.literal(true).optional().describe('it is being put back: it can only go on in that way'),
})

export type RestoreStep = (typeof restoreSteps)[number]
export type RestoreSource = NonNullable<z.infer<typeof restoreRecordSchema>['source']>
export type MemberSite = z.infer<typeof memberSiteSchema>
export type RestoreRecord = z.infer<typeof restoreRecordSchema>
