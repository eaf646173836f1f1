import { expect, it } from 'vitest'
import { runtimeAt } from './container-runtimes.ts'

it.each([
  ['unix:///run/containerd/containerd.sock', 'containerd'],
  ['/run/containerd/containerd.sock', 'containerd'],
  ['unix:///var/run/crio/crio.sock', 'cri-o'],
  ['unix:///var/run/cri-dockerd.sock', 'docker'],
  ['unix:///var/run/isulad.sock', 'iSulad'],
  ['unix:///run/k3s/containerd/containerd.sock', undefined],
  ['unix:///run/other.sock', undefined],
])('behind %s is %s', (endpoint, name) => expect(runtimeAt(endpoint)?.name).toBe(name))
