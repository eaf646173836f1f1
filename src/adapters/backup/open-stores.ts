import type { BackupSecrets, StorePlace } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { BackupStores, OpenStore } from '../../ports/backup-store.ts'
import { serviceAccountToken } from './gcs/service-account.ts'
import { mountNfs, type NfsTools } from './nfs-mount.ts'
import { PathStore } from './path-store.ts'
import { BucketClient, type BucketCredentials, type BucketTools } from './s3/bucket-client.ts'
import { BucketStore } from './s3/bucket-store.ts'

type Secrets = BackupSecrets['store']

export type StoreTools = BucketTools & NfsTools

/** All kinds of stores there are. */
export function backupStores(tools: StoreTools): BackupStores {
  return {
    open: async (place, secrets, signal) => {
      if (place.path !== undefined) return localStore(place.path, tools)
      if (place.nfs) return nfsStore(place.nfs, tools, signal)
      if (place.s3) return s3Store(place.name, place.s3, secrets, tools)
      if (place.gcs) return gcsStore({ name: place.name, gcs: place.gcs }, secrets, tools, signal)
      throw new SlipwayError('StoreRefused', `the backup store ${place.name} names no place`, {
        nextStep: 'give it one of path, nfs, s3 and gcs',
      })
    },
  }
}

function localStore(path: string, { root }: StoreTools): OpenStore {
  return new PathStore({ root, folder: path, title: path, isLocal: true })
}

async function nfsStore(
  nfs: NonNullable<StorePlace['nfs']>,
  tools: StoreTools,
  signal: AbortSignal,
): Promise<OpenStore> {
  const { folder, device, unmount } = await mountNfs(nfs, tools, signal)
  const title = `nfs://${nfs.server}${nfs.path}`
  return new PathStore({ root: tools.root, folder, title, isLocal: false, device }, unmount)
}

function s3Store(
  name: string,
  { bucket, prefix, endpoint, region = 'us-east-1', addressing, ca }: NonNullable<StorePlace['s3']>,
  secrets: Secrets,
  tools: StoreTools,
): OpenStore {
  const settings = {
    bucket,
    endpoint: new URL(endpoint ?? `https://s3.${region}.amazonaws.com`),
    virtualHost: (addressing ?? (endpoint === undefined ? 'VirtualHost' : 'Path')) === 'VirtualHost',
    region,
    ca,
    credentials: credentialsOf(name, secrets, ['accessKeyID and secretAccessKey']),
  }
  return new BucketStore(new BucketClient(settings, tools), { scheme: 's3', bucket, prefix })
}

/** Its XML API speaks as S3 does, also to who signs with an HMAC key. */
async function gcsStore(
  place: { readonly name: string; readonly gcs: NonNullable<StorePlace['gcs']> },
  secrets: Secrets,
  tools: StoreTools,
  signal: AbortSignal,
): Promise<OpenStore> {
  const { bucket, prefix, endpoint = 'https://storage.googleapis.com', ca } = place.gcs
  const credentials = await googleCredentials(place, secrets, tools, signal)
  const settings = { bucket, endpoint: new URL(endpoint), virtualHost: false, region: 'auto', ca, credentials }
  return new BucketStore(new BucketClient(settings, tools), { scheme: 'gs', bucket, prefix })
}

async function googleCredentials(
  { name, gcs: { ca } }: { readonly name: string; readonly gcs: NonNullable<StorePlace['gcs']> },
  secrets: Secrets,
  tools: StoreTools,
  signal: AbortSignal,
): Promise<BucketCredentials> {
  const { serviceAccountKey, token } = secrets ?? {}
  if (serviceAccountKey !== undefined) {
    return { token: await serviceAccountToken(name, serviceAccountKey, ca, tools, signal) }
  }
  if (token !== undefined) return { token }
  return credentialsOf(name, secrets, ['serviceAccountKey', 'accessKeyID and secretAccessKey', 'token'])
}

function credentialsOf(name: string, secrets: Secrets, wanted: readonly string[]): BucketCredentials {
  const { accessKeyID, secretAccessKey, sessionToken } = secrets ?? {}
  if (accessKeyID && secretAccessKey) {
    return { keys: { accessKeyID, secretAccessKey, ...(sessionToken && { sessionToken }) } }
  }
  throw new SlipwayError('StoreRefused', `the Secret of the backup store ${name} has not ${wanted.join(', nor ')}`, {
    nextStep: 'put the keys into the Secret',
  })
}
