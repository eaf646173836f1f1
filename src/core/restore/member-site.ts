// etcd of a host by its own settings: what a restore must know of it.

import type { MemberSite } from '../../api/restore-record.ts'
import { accessOfApiServer, accessOfManifests, accessOfService, type EtcdAccess } from '../control-plane/etcd-access.ts'
import { type EtcdSettings, settingsOfArguments } from '../kubernetes/etcd-settings.ts'
import { controlPlaneComponents, parseStaticPod } from '../kubernetes/static-pod.ts'

export interface HostSettings {
  /** The folder the kubelet takes static pods from. */
  readonly manifests: string
  /** The texts in it, by component; a missing one is not there. */
  readonly texts: Readonly<Record<string, string>>
  /** Of an etcd that is a service of the host. */
  readonly service?: EtcdSettings | undefined
}

export type SiteFinding = { readonly site: MemberSite } | { readonly missing: string }

/** etcd last: nobody who needs it runs any more when it goes. */
export const stoppedComponents = [...controlPlaneComponents, 'etcd'] as const

export function readSite({ manifests, texts, service }: HostSettings): SiteFinding {
  const argvOf = (name: string) => argvOfManifest(texts[name])
  const components = stoppedComponents.flatMap((name) => {
    const argv = argvOf(name)
    return argv ? [{ name, argv: [...argv] }] : []
  })
  const own = argvOf('etcd')
  const settings = own ? settingsOfArguments(own) : service
  if (!settings) return { missing: `no etcd runs here: neither ${manifests}/etcd.yaml nor etcd.service is there` }
  const access = own
    ? accessOfManifests({ etcd: texts.etcd, apiServer: texts['kube-apiserver'] })
    : accessOfService(settings)
  const { name, 'data-dir': dataDir, 'initial-advertise-peer-urls': peerURLs } = settings
  const wal = settings['wal-dir']
  if (wal !== undefined && wal !== '')
    return { missing: `etcd keeps its log apart (--wal-dir=${wal}): restore it by hand` }
  if (access?.own === undefined) return { missing: 'the settings of etcd do not say where clients reach it' }
  if (!name || !dataDir || !peerURLs) {
    const wanted = { name: name, 'data-dir': dataDir, 'initial-advertise-peer-urls': peerURLs }
    const absent = Object.entries(wanted).flatMap(([flag, value]) => (value ? [] : [`--${flag}`]))
    return { missing: `the settings of etcd lack ${absent.join(', ')}` }
  }
  const server = argvOf('kube-apiserver')
  const apiServer = accessOfApiServer(texts['kube-apiserver'])
  return {
    site: {
      kind: own ? 'StaticPod' : 'Service',
      name,
      dataDir: dataDir.replace(/\/+$/, ''),
      peerURLs,
      initialCluster: settings['initial-cluster'] ?? `${name}=${peerURLs}`,
      etcd: { url: access.own, ...credentials(access) },
      manifests,
      components,
      ...(apiServer && { apiServer }),
      prefix: (server && settingsOfArguments(server)['etcd-prefix']) ?? '/registry',
    },
  }
}

/** The members a restored cluster begins with, and where that is known from. */
export interface RestoredMembers {
  readonly members: string
  readonly from: 'given' | 'etcd' | 'manifest'
}

export interface ListedMember {
  readonly name: string
  readonly peerURLs?: readonly string[] | undefined
}

/** What a person gives counts; then what etcd itself still says; a manifest only knows who was there when it was written. */
export function restoredMembers(
  site: MemberSite,
  given: string | undefined,
  listed: readonly ListedMember[] | undefined,
): RestoredMembers | { readonly wrong: string } {
  const known = listed?.flatMap(({ name, peerURLs = [] }) =>
    name === '' ? [] : peerURLs.map((url) => `${name}=${url}`),
  )
  const told =
    given !== undefined
      ? ({ members: given, from: 'given' } as const)
      : known && known.length > 0
        ? ({ members: known.join(), from: 'etcd' } as const)
        : ({ members: site.initialCluster, from: 'manifest' } as const)
  const pairs = memberPairs(told.members)
  if (!pairs) return { wrong: `"${told.members}" is no list of members, such as cp1=https://10.0.0.1:2380,cp2=…` }
  const own = pairs.filter(([name]) => name === site.name).map(([, url]) => url)
  if (own.length === 0) return { wrong: `${site.name}, the member on this host, is not among ${told.members}` }
  if (own.toSorted().join() !== site.peerURLs.split(',').toSorted().join()) {
    return { wrong: `${site.name} advertises ${site.peerURLs}, the list says ${own.join()}` }
  }
  const members = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, url]) => `${name}=${url}`)
  return { ...told, members: members.join() }
}

export function memberNames(members: string): readonly string[] {
  return [...new Set((memberPairs(members) ?? []).map(([name]) => name))]
}

function memberPairs(members: string): readonly (readonly [string, string])[] | undefined {
  const pairs = members.split(',').map((member) => /^([^=\s]+)=(https?:\/\/\S+)$/.exec(member.trim()))
  const whole = pairs.flatMap((pair) => (pair?.[1] && pair[2] ? [[pair[1], pair[2]] as const] : []))
  return whole.length === pairs.length ? whole : undefined
}

function argvOfManifest(text: string | undefined): readonly string[] | undefined {
  const container = text === undefined ? undefined : parseStaticPod(text)?.spec.containers[0]
  return container && [...(container.command ?? []), ...(container.args ?? [])]
}

function credentials({ ca, certificate, key }: EtcdAccess) {
  return {
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && key !== undefined && { certificate, key }),
  }
}
