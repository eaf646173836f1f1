import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { configMaps } from '../../api/kube.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { offeredOf } from '../../core/versions/offers.ts'
import { askForVersions, type VersionDeskOptions } from './version-desk.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'
const sha256 = 'a'.repeat(64)
const bundleAt = (url: string) => ({ airGapped: { bundle: { url, sha256 } } })
const file = (path: string) => ({ path, bytes: 1, sha256 })

async function desk(more: Partial<VersionDeskOptions> = {}): Promise<VersionDeskOptions> {
  const api = new FakeKubeApi()
  const keep = (in_: string, name: string, data: Record<string, string>) =>
    api.create(configMaps, { metadata: { name, namespace: in_ }, data }, signal)
  await keep('kube-system', 'kubeadm-config', { ClusterConfiguration: 'imageRepository: registry.example/k8s\n' })
  await keep(namespace, 'slipway-versions', { versions: 'v1.36.1\n\nv1.37.0\n' })
  return { api, namespace, ...more }
}

describe('who else is asked for versions', () => {
  it('the registry of the cluster’s own images, then the ConfigMap', async () => {
    const asked: string[] = []
    const tags = async (repository: string) => {
      asked.push(repository)
      return ['v1.36.9', 'latest']
    }
    const offers = await askForVersions(await desk({ tags }), {}, signal)
    expect(asked).toEqual(['registry.example/k8s/kube-apiserver'])
    expect(offeredOf(offers, 1, 36)).toEqual({ source: 'Registry', versions: ['v1.36.9'] })
    expect(offeredOf(offers, 1, 37)).toEqual({ source: 'ConfigMap', versions: ['v1.37.0'] })
    expect(offers.silent).toEqual([])
  })

  it('who cannot answer says why', async () => {
    const tags = () => Promise.reject(new SlipwayError('CannotReach', 'it answers 429'))
    const offers = await askForVersions({ api: new FakeKubeApi(), namespace, tags }, {}, signal)
    expect(offers.lists).toEqual([])
    expect(offers.silent).toEqual([
      'registry.k8s.io/kube-apiserver could not be asked: it answers 429',
      'there is no ConfigMap slipway-system/slipway-versions',
    ])
    expect(offers.failing, 'who may know more when asked again').toEqual([
      'registry.k8s.io/kube-apiserver could not be asked: it answers 429',
    ])
  })

  it('a bundle alone where the update names one', async () => {
    const files = [file('packages/deb/kubeadm_1.36.3-1.1_amd64.deb'), file('packages/deb/kubelet_1.36.3-1.1_amd64.deb')]
    const manifest = async () => ({ format: 1 as const, architecture: 'amd64' as const, files })
    const offers = await askForVersions(await desk({ manifest }), bundleAt('https://files.example/b.tar'), signal)
    expect(offers.lists.map(({ source }) => source)).toEqual(['Bundle'])
    expect(offeredOf(offers, 1, 36)).toEqual({ source: 'Bundle', versions: ['v1.36.3'] })
    const onHosts = await askForVersions(await desk({ manifest }), bundleAt('/srv/b.tar'), signal)
    expect(onHosts).toMatchObject({ lists: [], silent: [expect.stringContaining('cannot be seen from here')] })
    const broken = () => Promise.reject(new SlipwayError('BundleBroken', 'it is no bundle'))
    const none = await askForVersions(await desk({ manifest: broken }), bundleAt('https://files.example/b.tar'), signal)
    expect(none.silent).toEqual(['the bundle could not be looked at: it is no bundle'])
  })
})
