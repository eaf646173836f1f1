import { X509Certificate } from 'node:crypto'
import type { HostFiles } from '../../../ports/host-files.ts'

const folders = ['/etc/kubernetes/pki', '/etc/kubernetes/pki/etcd']

/** When the first of a control plane's certificates expires; undefined where there are none. `odd`: one that cannot be read. */
export async function firstExpiry(
  files: HostFiles,
  odd: (path: string, error: unknown) => void,
): Promise<string | undefined> {
  const expiries: number[] = []
  for (const folder of folders) {
    for (const name of await files.names(folder)) {
      if (!name.endsWith('.crt')) continue
      const path = `${folder}/${name}`
      const text = await files.read(path)
      for (const pem of text?.match(pemPattern) ?? []) {
        try {
          expiries.push(new X509Certificate(pem).validToDate.getTime())
        } catch (error) {
          odd(path, error)
        }
      }
    }
  }
  return expiries.length === 0 ? undefined : new Date(Math.min(...expiries)).toISOString()
}

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
