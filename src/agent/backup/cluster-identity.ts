// Which cluster a backup is of. etcd's own id is a sum of its token and addresses: two clusters that are addressed alike share it, and a
// restore changes it. The authority that signs etcd's certificates is the cluster's own, and outlives a restore.

import { createHash } from 'node:crypto'

const firstCertificate = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/
const digits = 16

/** By the first certificate of the authority; by etcd's own id where there is none; undefined where nothing tells. */
export function clusterIdentity(ca: string | undefined, etcdClusterId?: string): string | undefined {
  const encoded = ca === undefined ? undefined : firstCertificate.exec(ca)?.[1]
  if (encoded !== undefined) {
    const sum = createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('hex')
    return `ca-${sum.slice(0, digits)}`
  }
  // What a member says that has no cluster.
  return etcdClusterId === '0' ? undefined : etcdClusterId
}
