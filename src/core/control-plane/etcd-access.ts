// How the control plane of a host reaches etcd, read from its own settings: the same addresses and certificates serve us.

import { type EtcdSettings, ownEndpoint, settingsOfArguments } from '../kubernetes/etcd-settings.ts'
import { parseStaticPod } from '../kubernetes/static-pod.ts'

/** Where to ask, and the paths of what proves who asks. */
export interface EtcdAccess {
  /** Of the member on this host. */
  readonly own?: string | undefined
  /** Any of them may be asked for the members. */
  readonly endpoints: readonly string[]
  readonly ca?: string | undefined
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

export interface ManifestTexts {
  readonly etcd: string | undefined
  readonly apiServer: string | undefined
}

/** kubeadm's way: an API server in a static pod, and etcd in one beside it or anywhere else. */
export function accessOfManifests({ etcd, apiServer }: ManifestTexts): EtcdAccess | undefined {
  const server = settingsOf(apiServer)
  const member = settingsOf(etcd)
  const own = member && ownEndpoint(member)
  const servers = (server?.['etcd-servers'] ?? '').split(',').filter((address) => address !== '')
  const endpoints = own === undefined ? servers : [own]
  if (endpoints.length === 0) return undefined
  const ca = server?.['etcd-cafile'] ?? member?.['trusted-ca-file']
  const certificate = server?.['etcd-certfile'] ?? member?.['cert-file']
  const key = server?.['etcd-keyfile'] ?? member?.['key-file']
  return { ...(own !== undefined && { own }), endpoints, ...whole({ ca, certificate, key }) }
}

/** An etcd that is a service of the host. */
export function accessOfService(settings: EtcdSettings): EtcdAccess | undefined {
  const own = ownEndpoint(settings)
  if (own === undefined) return undefined
  const ca = settings.ETCDCTL_CACERT ?? settings['trusted-ca-file']
  const certificate = settings.ETCDCTL_CERT ?? settings['cert-file']
  const key = settings.ETCDCTL_KEY ?? settings['key-file']
  return { own, endpoints: [own], ...whole({ ca, certificate, key }) }
}

/** Distributions that run etcd themselves: where its data lies tells that they do. */
export const knownPlaces: readonly { readonly data: string; readonly access: EtcdAccess }[] = [
  ...['k3s', 'rke2'].map((name) => ({
    data: `/var/lib/rancher/${name}/server/db/etcd`,
    access: localAccess({
      ca: `/var/lib/rancher/${name}/server/tls/etcd/server-ca.crt`,
      certificate: `/var/lib/rancher/${name}/server/tls/etcd/client.crt`,
      key: `/var/lib/rancher/${name}/server/tls/etcd/client.key`,
    }),
  })),
  {
    data: '/var/lib/k0s/etcd',
    access: localAccess({
      ca: '/var/lib/k0s/pki/etcd/ca.crt',
      certificate: '/var/lib/k0s/pki/apiserver-etcd-client.crt',
      key: '/var/lib/k0s/pki/apiserver-etcd-client.key',
    }),
  },
]

export interface ApiServerAccess {
  readonly url: string
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
}

/** This host's own API server; asked as one that is known to it, since nobody else may be let in. */
export function accessOfApiServer(manifest: string | undefined): ApiServerAccess | undefined {
  const settings = settingsOf(manifest)
  const address = settings?.['advertise-address']
  if (!settings || address === undefined) return undefined
  const host = address.includes(':') ? `[${address}]` : address
  return {
    url: `https://${host}:${settings['secure-port'] ?? '6443'}`,
    ...whole({
      ca: settings['client-ca-file'],
      certificate: settings['kubelet-client-certificate'],
      key: settings['kubelet-client-key'],
    }),
  }
}

function localAccess(paths: Pick<EtcdAccess, 'ca' | 'certificate' | 'key'>): EtcdAccess {
  const own = 'https://127.0.0.1:2379'
  return { own, endpoints: [own], ...paths }
}

function settingsOf(manifest: string | undefined): EtcdSettings | undefined {
  const container = manifest === undefined ? undefined : parseStaticPod(manifest)?.spec.containers[0]
  return container && settingsOfArguments([...(container.command ?? []), ...(container.args ?? [])])
}

function whole(paths: Readonly<Record<'ca' | 'certificate' | 'key', string | undefined>>) {
  const { ca, certificate, key } = paths
  return {
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && key !== undefined && { certificate, key }),
  }
}
