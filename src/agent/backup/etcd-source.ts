// Which member of etcd a backup is made of, and its snapshot.

import type { BackupRequest, BackupSecrets } from '../../api/backup.ts'
import { type GatewayMember, type GatewayStatus, gatewayFailureSchema } from '../../api/etcd-gateway.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { whyNotSaved } from '../../core/backup/worth-saving.ts'
import type { Host } from '../../ports/host.ts'
import type { RequestCredentials, SecureRequests, SecureStreams } from '../../ports/secure-requests.ts'
import { EtcdGateway } from '../control-plane/etcd-gateway.ts'
import { credentialsOf, findEtcd } from '../control-plane/find-etcd.ts'
import { sightingsOf } from '../control-plane/look-at-etcd.ts'
import { problemOf } from '../control-plane/problem-of.ts'
import { clusterIdentity } from './cluster-identity.ts'
import { SnapshotStream } from './snapshot-stream.ts'

/** How long etcd may stay silent in the middle of a snapshot. */
const silenceMs = 60_000

export interface EtcdTools {
  readonly host: Host
  readonly requests: SecureRequests
  readonly streams: SecureStreams
}

export interface EtcdSource {
  readonly status: GatewayStatus
  /** Which cluster it is of; undefined where nothing tells. */
  readonly cluster: string | undefined
  snapshot(signal: AbortSignal): Promise<SnapshotStream>
}

/** The member on this host, or the first of those elsewhere that is worth saving; throws why there is none. */
export async function etcdSource(
  tools: EtcdTools,
  { etcd }: Pick<BackupRequest, 'etcd'>,
  secrets: BackupSecrets,
  signal: AbortSignal,
): Promise<EtcdSource> {
  const { endpoints, credentials } = await accessOf(tools.host, etcd, secrets, signal)
  const gateway = new EtcdGateway(tools.requests, credentials)
  let first: unknown
  for (const endpoint of endpoints) {
    try {
      const status = await goodStatus(gateway, endpoint, signal)
      return {
        status,
        cluster: clusterIdentity(credentials.ca, status.header.cluster_id),
        snapshot: (stop) => openSnapshot(tools.streams, endpoint, credentials, stop),
      }
    } catch (error) {
      if (signal.aborted) throw error
      first ??= error
    }
  }
  throw first
}

async function accessOf(
  host: Host,
  etcd: BackupRequest['etcd'],
  { etcd: given }: BackupSecrets,
  signal: AbortSignal,
): Promise<{ readonly endpoints: readonly string[]; readonly credentials: RequestCredentials }> {
  if (etcd) {
    const { 'ca.crt': ca, 'tls.crt': certificate, 'tls.key': key } = given ?? {}
    const pair = certificate !== undefined && key !== undefined && { certificate, key }
    return { endpoints: etcd.endpoints, credentials: { ...(ca !== undefined && { ca }), ...pair } }
  }
  const access = await findEtcd(host, signal)
  if (!access) {
    throw new SlipwayError('EtcdUnknown', 'nothing on this host tells where etcd is', {
      nextStep: 'set spec.etcd of MaintenancePolicy default to its endpoints and certificates',
    })
  }
  const endpoints = access.own === undefined ? access.endpoints : [access.own]
  return { endpoints, credentials: await credentialsOf(host, access) }
}

async function goodStatus(gateway: EtcdGateway, endpoint: string, signal: AbortSignal): Promise<GatewayStatus> {
  const id = (await gateway.status(endpoint, signal)).header.member_id
  const members = await gateway.members(endpoint, signal)
  const others = await othersOf(
    gateway,
    members.filter(({ ID }) => ID !== id),
    signal,
  )
  const member = members.find(({ ID }) => ID === id)
  const isLearner = member?.isLearner ?? false
  // A read that a majority agrees on waits until this member has caught up with what was agreed on before.
  const readProblem = isLearner ? undefined : await problemOf(() => gateway.readAgreed(endpoint, signal), signal)
  // Nor does one that is cut off from the others know of alarms.
  const alarms = readProblem === undefined ? await gateway.alarms(endpoint, signal) : []
  const status = await gateway.status(endpoint, signal)
  const why = whyNotSaved({ name: member?.name || id, isLearner, status, readProblem }, others, alarms)
  if (why) throw new SlipwayError(why.code, why.message)
  return status
}

/** Those that answer: one that is down says nothing of this one. */
async function othersOf(gateway: EtcdGateway, members: readonly GatewayMember[], signal: AbortSignal) {
  const sightings = await sightingsOf(gateway, members, signal)
  return members.flatMap(({ ID, name }) => {
    const sighting = sightings.get(ID)
    return sighting?.seen ? [{ name: name || ID, appliedIndex: sighting.status.raftAppliedIndex }] : []
  })
}

async function openSnapshot(
  streams: SecureStreams,
  endpoint: string,
  credentials: RequestCredentials,
  signal: AbortSignal,
): Promise<SnapshotStream> {
  const url = `${endpoint.replace(/\/+$/, '')}/v3/maintenance/snapshot`
  const request = { method: 'POST', url, body: '{}', credentials, timeoutMs: silenceMs } as const
  const { status, body } = await streams.open(request, signal)
  if (status === 200) return new SnapshotStream(named(body, signal))
  const said = await beginningOf(body)
  throw new SlipwayError('SnapshotBroken', `${url} answers ${status}: ${said}`, {
    nextStep: 'look at the log of etcd',
  })
}

/** A stream that breaks off is a snapshot that is not whole, not an etcd nobody knows of. */
async function* named(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof Error ? error.message : String(error)
    throw new SlipwayError('SnapshotBroken', `the snapshot of etcd breaks off: ${message}`, {
      nextStep: 'look at the log of etcd',
      cause: error,
    })
  }
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const piece of body) {
    const text = Buffer.from(piece).toString('utf8').slice(0, 300)
    const failure = gatewayFailureSchema.safeParse(jsonOf(text))
    return failure.success ? failure.data.message : text
  }
  return ''
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
