import { X509Certificate } from 'node:crypto'
import type { HostFacts } from '../../../ports/host.ts'
import type { HostFiles } from '../../../ports/host-files.ts'

const kubernetes = '/etc/kubernetes'
const pki = `${kubernetes}/pki`
/** With what the control plane and its administrators speak to the API server; a kubelet changes its own certificate by itself. */
const kubeconfigs = ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf']

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
  const hasKey = async (authority: string) => (await files.look(`${pki}/${authority}.key`)).kind !== 'none'
  const note = ({ ca, validToDate }: X509Certificate, renews: boolean) => {
    all.push(validToDate.getTime())
    if (ca) authorities.push(validToDate.getTime())
    else if (!renews) unrenewed.push(validToDate.getTime())
  }
  for (const folder of ['', 'etcd/']) {
    for (const name of await files.names(`${pki}/${folder}`.replace(/\/$/, ''))) {
      if (!name.endsWith('.crt')) continue
      const path = `${pki}/${folder}${name}`
      const found = certificatesIn((await files.read(path)) ?? '', (error) => odd(path, error))
      const signer = renewedBy[`${folder}${name}`]
      const renews = signer !== undefined && (await hasKey(signer))
      for (const certificate of found) note(certificate, renews)
    }
  }
  for (const name of kubeconfigs) {
    const path = `${kubernetes}/${name}`
    const text = embeddedIn((await files.read(path)) ?? '')
    for (const certificate of certificatesIn(text, (error) => odd(path, error))) note(certificate, await hasKey('ca'))
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

/** The certificates that a kubeconfig holds itself. */
function embeddedIn(kubeconfig: string): string {
  const found = [...kubeconfig.matchAll(/^\s*client-certificate-data:\s*"?([A-Za-z0-9+/=]+)/gm)]
  return found.map(([, data = '']) => Buffer.from(data, 'base64').toString()).join('\n')
}

function first(timesMs: readonly number[]): string {
  return new Date(Math.min(...timesMs)).toISOString()
}

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
