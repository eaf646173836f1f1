import { describe, expect, it } from 'vitest'
import { imageTag, localApiServer, staticPodImage, versionTag } from './static-pod.ts'

// The head of kube-apiserver.yaml as kubeadm writes it.
const manifest = `apiVersion: v1
kind: Pod
metadata:
  labels:
    component: kube-apiserver
    tier: control-plane
  name: kube-apiserver
  namespace: kube-system
spec:
  containers:
  - command:
    - kube-apiserver
    - --advertise-address=10.77.1.11
    - --secure-port=6443
    image: registry.k8s.io/kube-apiserver:v1.36.3
    imagePullPolicy: IfNotPresent
    name: kube-apiserver
`

describe('a static pod’s manifest', () => {
  it('names its image', () => expect(staticPodImage(manifest)).toBe('registry.k8s.io/kube-apiserver:v1.36.3'))
  it.each(['', 'spec:', manifest.slice(0, 200), '\u0000\u0000'])('is not read from %j', (text) => {
    expect(staticPodImage(text)).toBeUndefined()
  })
  it.each([
    [manifest, 'https://10.77.1.11:6443'],
    [manifest.replace('10.77.1.11', 'fd00::1').replace('=6443', '=443'), 'https://[fd00::1]:443'],
    [manifest.replace('    - --secure-port=6443\n', ''), 'https://10.77.1.11:6443'],
    [manifest.replace('    - --advertise-address=10.77.1.11\n', ''), undefined],
  ])('says where the API server answers (%#)', (text, address) => expect(localApiServer(text)).toBe(address))
})

it.each([
  ['registry.k8s.io/pause:3.10', '3.10'],
  ['registry:5000/a/b', undefined],
  ['registry:5000/a/b:v1@sha256:abc', 'v1'],
  ['etcd', undefined],
])('the tag of %s is %s', (reference, tag) => expect(imageTag(reference)).toBe(tag))

it('a version with a build has a tag without plus', () => expect(versionTag('v1.36.3+a')).toBe('v1.36.3_a'))
