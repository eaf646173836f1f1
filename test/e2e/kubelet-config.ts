import type { ApiServer } from '../bed/api-server.ts'
import type { Bed } from '../bed/bed.ts'
import { makePair } from '../bed/certificates.ts'

/** The kubelet.conf of a machine as kubeadm writes it, with the host's own certificate, for an API server of the bed's host. */
export function kubeletConfig(bed: Bed, server: ApiServer, node: string): string {
  const { certificate, key } = makePair(server.authority, { name: `system:node:${node}`, group: 'system:nodes' })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const cluster = {
    server: `https://${bed.address}:${new URL(server.url).port}`,
    'certificate-authority-data': base64(server.authority.certificate),
    'tls-server-name': 'kubernetes',
  }
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster }],
    users: [{ name: 'kubelet', user }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'kubelet' } }],
    'current-context': 'bed',
  })
}
