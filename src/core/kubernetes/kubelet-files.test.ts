import { expect, it } from 'vitest'
import { flagsThatGo, isMasked, kubeletServer } from './kubelet-files.ts'

const manifest =
  'metadata:\n  annotations:\n    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.1:6443\n'
const config = (server: string) => `clusters:\n- cluster:\n    server: ${server}\n  name: default\n`

it.each([
  ['its own address', config('https://10.0.0.1:6443'), manifest, true],
  ['the loopback', config('https://127.0.0.1:7443'), '', true],
  ['the loopback by name', config('"https://localhost:6443/"'), '', true],
  ['a load balancer', config('https://lb.example:6443'), manifest, false],
  ['a neighbour', config('https://10.0.0.11:6443'), manifest, false],
  ['another port', config('https://10.0.0.1:8443'), manifest, false],
])('a kubelet that talks to %s', (_name, kubeconfig, text, own) => {
  expect(kubeletServer(kubeconfig, text)?.own).toBe(own)
})

it('a kubelet without a server', () => expect(kubeletServer('clusters: []\n', manifest)).toBeUndefined())

it('flags that go, whatever the version', () => {
  expect(flagsThatGo('KUBELET_EXTRA_ARGS="--network-plugin=cni --v=2 --pod-infra-container-image=p"\n')).toEqual([
    'network-plugin',
    'pod-infra-container-image',
  ])
})

it.each([
  [{ kind: 'link', target: '/dev/null' }, true],
  [{ kind: 'folder' }, true],
  [{ kind: 'link', target: '/opt/kubelet.conf' }, false],
  [{ kind: 'file' }, false],
  [{ kind: 'none' }, false],
])('%j is masked: %s', (look, masked) => {
  expect(isMasked(look)).toBe(masked)
})
