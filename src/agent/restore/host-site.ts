import { SlipwayError } from '../../api/slipway-error.ts'
import { readSite, type SiteFinding, stoppedComponents } from '../../core/restore/member-site.ts'
import type { Host } from '../../ports/host.ts'
import { clusterIdentity } from '../backup/cluster-identity.ts'
import { isHostService, readEtcdSettings } from '../drivers/etcd/host-service.ts'

/** etcd of this host, by the static pods in that folder or by its service. */
export async function findSite(host: Host, manifests: string, signal: AbortSignal): Promise<SiteFinding> {
  const texts: Record<string, string> = {}
  for (const component of stoppedComponents) {
    const text = await host.files.read(`${manifests}/${component}.yaml`)
    if (text !== undefined) texts[component] = text
  }
  const isService = texts.etcd === undefined && (await isHostService(host, signal))
  const service = isService ? await readEtcdSettings(host, signal) : undefined
  return readSite({ manifests, texts, service })
}

/** Its cluster by the authority of its etcd; undefined where no such file is there, or it may not be read. */
export async function clusterOfSite(host: Host, found: SiteFinding): Promise<string | undefined> {
  if ('missing' in found || found.site.etcd.ca === undefined) return undefined
  return clusterIdentity(await host.files.read(found.site.etcd.ca).catch(unreadable))
}

export function unreadable(error: unknown): undefined {
  if (error instanceof SlipwayError && error.code.startsWith('Disk')) return undefined
  throw error
}
