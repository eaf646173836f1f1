import {
  type ApiServerAccess,
  accessOfApiServer,
  accessOfManifests,
  accessOfService,
  type EtcdAccess,
  knownPlaces,
} from '../../core/control-plane/etcd-access.ts'
import type { Host } from '../../ports/host.ts'
import type { RequestCredentials, SecureRequests } from '../../ports/secure-requests.ts'
import { isHostService, readEtcdSettings } from '../drivers/etcd/host-service.ts'
import { EtcdGateway } from './etcd-gateway.ts'

const manifests = '/etc/kubernetes/manifests'

/** How this host's control plane reaches etcd; undefined where nothing tells. */
export async function findEtcd(host: Host, signal: AbortSignal): Promise<EtcdAccess | undefined> {
  const [etcd, apiServer] = await Promise.all([
    host.files.read(`${manifests}/etcd.yaml`),
    host.files.read(`${manifests}/kube-apiserver.yaml`),
  ])
  const told = accessOfManifests({ etcd, apiServer })
  if (told?.own !== undefined) return told
  if (await isHostService(host, signal)) return accessOfService(await readEtcdSettings(host, signal)) ?? told
  if (told) return told
  for (const { data, access } of knownPlaces) {
    if ((await host.files.look(data)).kind === 'folder') return access
  }
  return undefined
}

export async function findApiServer(host: Host): Promise<ApiServerAccess | undefined> {
  return accessOfApiServer(await host.files.read(`${manifests}/kube-apiserver.yaml`))
}

/** Read each time: certificates are renewed. */
export async function gatewayOf(host: Host, requests: SecureRequests, access: EtcdAccess): Promise<EtcdGateway> {
  return new EtcdGateway(requests, await credentialsOf(host, access))
}

export async function credentialsOf(
  host: Host,
  paths: Pick<EtcdAccess, 'ca' | 'certificate' | 'key'>,
): Promise<RequestCredentials> {
  const read = async (path: string | undefined) => (path === undefined ? undefined : await host.files.read(path))
  const [ca, certificate, key] = await Promise.all([read(paths.ca), read(paths.certificate), read(paths.key)])
  return {
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && key !== undefined && { certificate, key }),
  }
}
