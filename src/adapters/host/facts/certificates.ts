import { X509Certificate } from 'node:crypto'
import type { HostFiles } from '../../../ports/host-files.ts'

const folders = ['/etc/kubernetes/pki', '/etc/kubernetes/pki/etcd']

/** When the first of a control plane's certificates expires; undefined where there are none. */
export async function firstExpiry(files: HostFiles): Promise<string | undefined> {
  const expiries: number[] = []
  for (const folder of folders) {
    for (const name of await files.names(folder)) {
      if (!name.endsWith('.crt')) continue
      const text = await files.read(`${folder}/${name}`)
      for (const pem of text?.match(pemPattern) ?? []) expiries.push(new X509Certificate(pem).validToDate.getTime())
    }
  }
  return expiries.length === 0 ? undefined : new Date(Math.min(...expiries)).toISOString()
}

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
