import { X509Certificate } from 'node:crypto'
import type { HostFacts } from '../../../ports/host.ts'
import type { HostFiles } from '../../../ports/host-files.ts'

const pki = '/etc/kubernetes/pki'

/** What kubeadm renews, and the authority whose key it needs for that: its own table, by the names of its files. */
const renewedBy: Readonly<Record<string, string>> = {
  'apiserver.crt': 'ca',
  'apiserver-kubelet-client.crt': 'ca',
  'front-proxy-client.crt': 'front-proxy-ca',
  'apiserver-etcd-client.crt': 'etcd/ca',
  'etcd/server.crt': 'etcd/ca',
  'etcd/peer.crt': 'etcd/ca',
  'etcd/healthcheck-client.crt': 'etcd/ca',
}

type CertificateFacts = Pick<HostFacts, 'certificatesExpireAt' | 'authoritiesExpireAt' | 'unrenewedExpireAt'>

/** When the first of a control plane's certificates of each kind expires. `odd`: one that cannot be read. */
export async function certificateFacts(
  files: HostFiles,
  odd: (path: string, error: unknown) => void,
): Promise<CertificateFacts> {
  const all: number[] = []
  const authorities: number[] = []
  const unrenewed: number[] = []
  for (const folder of ['', 'etcd/']) {
    for (const name of await files.names(`${pki}/${folder}`.replace(/\/$/, ''))) {
      if (!name.endsWith('.crt')) continue
      const path = `${pki}/${folder}${name}`
      const found = certificatesIn((await files.read(path)) ?? '', (error) => odd(path, error))
      const signer = renewedBy[`${folder}${name}`]
      const renews = signer !== undefined && (await files.look(`${pki}/${signer}.key`)).kind !== 'none'
      for (const { ca, validToDate } of found) {
        all.push(validToDate.getTime())
        if (ca) authorities.push(validToDate.getTime())
        else if (!renews) unrenewed.push(validToDate.getTime())
      }
    }
  }
  return {
    ...(all.length > 0 && { certificatesExpireAt: first(all) }),
    ...(authorities.length > 0 && { authoritiesExpireAt: first(authorities) }),
    ...(unrenewed.length > 0 && { unrenewedExpireAt: first(unrenewed) }),
  }
}

function certificatesIn(text: string, odd: (error: unknown) => void): readonly X509Certificate[] {
  return (text.match(pemPattern) ?? []).flatMap((pem) => {
    try {
      return new X509Certificate(pem)
    } catch (error) {
      odd(error)
      return []
    }
  })
}

function first(timesMs: readonly number[]): string {
  return new Date(Math.min(...timesMs)).toISOString()
}

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
