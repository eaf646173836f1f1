import { describe, expect, it } from 'vitest'
import { accessOfApiServer, accessOfManifests } from './etcd-access.ts'

const pod = (...command: readonly string[]) => JSON.stringify({ spec: { containers: [{ image: 'x', command }] } })

// As kubeadm 1.36 writes them.
const stacked = pod(
  'etcd',
  '--advertise-client-urls=https://10.0.0.1:2379',
  '--cert-file=/etc/kubernetes/pki/etcd/server.crt',
  '--client-cert-auth=true',
  '--key-file=/etc/kubernetes/pki/etcd/server.key',
  '--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379',
  '--trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt',
)
const server = (...flags: readonly string[]) =>
  pod(
    'kube-apiserver',
    '--advertise-address=10.0.0.1',
    '--client-ca-file=/etc/kubernetes/pki/ca.crt',
    '--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt',
    '--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key',
    '--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt',
    '--etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt',
    '--etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key',
    ...flags,
  )
const ca = '/etc/kubernetes/pki/etcd/ca.crt'
const client = {
  ca,
  certificate: '/etc/kubernetes/pki/apiserver-etcd-client.crt',
  key: '/etc/kubernetes/pki/apiserver-etcd-client.key',
}
const own = 'https://10.0.0.1:2379'

describe('how a control plane reaches etcd', () => {
  it.each([
    [
      'in a static pod beside the API server',
      { etcd: stacked, apiServer: server('--etcd-servers=https://127.0.0.1:2379') },
      { own, endpoints: [own], ...client },
    ],
    [
      'elsewhere',
      { etcd: undefined, apiServer: server('--etcd-servers=https://10.1.0.1:2379,https://10.1.0.2:2379') },
      { endpoints: ['https://10.1.0.1:2379', 'https://10.1.0.2:2379'], ...client },
    ],
    [
      'while the API server’s manifest is gone',
      { etcd: stacked, apiServer: undefined },
      {
        own,
        endpoints: [own],
        ca,
        certificate: '/etc/kubernetes/pki/etcd/server.crt',
        key: '/etc/kubernetes/pki/etcd/server.key',
      },
    ],
    ['no control plane', { etcd: undefined, apiServer: undefined }, undefined],
    ['a manifest that is half there', { etcd: 'spec: {', apiServer: undefined }, undefined],
  ])('%s', (_, texts, access) => expect(accessOfManifests(texts)).toEqual(access))

  it.each([
    [server(), 'https://10.0.0.1:6443'],
    [server('--secure-port=8443'), 'https://10.0.0.1:8443'],
    [server('--advertise-address=fd00::1'), 'https://[fd00::1]:6443'],
    [undefined, undefined],
  ])('where the API server of the host answers', (manifest, url) => {
    const access = accessOfApiServer(manifest)
    expect(access?.url).toBe(url)
    if (url !== undefined) expect(access?.certificate).toBe('/etc/kubernetes/pki/apiserver-kubelet-client.crt')
  })
})
