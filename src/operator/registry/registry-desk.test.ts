import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { secrets } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { Registry, RegistryAccess } from '../../ports/registry.ts'
import { RegistryDesk } from './registry-desk.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'

function desk(registries: MaintenancePolicy['spec']['registries']) {
  const api = new FakeKubeApi()
  const asked: { readonly reference: string; readonly access: RegistryAccess }[] = []
  const registry: Registry = {
    tags: async (reference, access) => {
      asked.push({ reference, access })
      return []
    },
    look: async (reference, access) => {
      asked.push({ reference, access })
      return { digest: 'sha256:', platforms: [] }
    },
    referrers: async (reference, _digests, access) => {
      asked.push({ reference, access })
      return []
    },
  }
  const policy = { spec: { ...(registries && { registries }) } } as MaintenancePolicy
  return { api, asked, desk: new RegistryDesk({ api, registry, cluster: { policy }, namespace }) }
}

const secret = (name: string, data: Readonly<Record<string, string>>) => ({
  metadata: { name, namespace },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])),
})

describe('a registry', () => {
  it('that nobody speaks of is asked as nobody', async () => {
    const { desk: one, asked } = desk(undefined)
    await one.look('registry.example/os:1', signal)
    expect(asked).toEqual([{ reference: 'registry.example/os:1', access: { mirrors: [] } }])
  })

  it('is asked with what its entry says, and its mirrors with what theirs say', async () => {
    const {
      desk: one,
      api,
      asked,
    } = desk([
      {
        host: 'registry.example:5000',
        secret: 'own',
        ca: 'PEM',
        plain: true,
        mirrors: ['https://m1.example/x', 'https://m2.example'],
      },
      { host: 'm2.example', secret: 'mirror', ca: 'OTHER' },
    ])
    api.put(secrets, secret('own', { username: 'a', password: 'b' }))
    api.put(
      secrets,
      secret('mirror', { '.dockerconfigjson': '{"auths":{"m2.example":{"username":"c","password":"d"}}}' }),
    )
    await one.tags('registry.example:5000/os', signal)
    expect(asked[0]?.access).toEqual({
      username: 'a',
      password: 'b',
      ca: 'PEM',
      plain: true,
      mirrors: [
        { url: 'https://m1.example/x' },
        { url: 'https://m2.example', username: 'c', password: 'd', ca: 'OTHER' },
      ],
    })
  })

  it.each([
    ['is not there', undefined, 'is not there'],
    ['is of another', { '.dockerconfigjson': '{"auths":{"other.example":{"auth":"YTpi"}}}' }, 'holds no credentials'],
    ['is empty', {}, 'holds no credentials'],
  ])('whose Secret %s is not asked', async (_, data, says) => {
    const { desk: one, api, asked } = desk([{ host: 'registry.example', secret: 'own' }])
    if (data) api.put(secrets, secret('own', data))
    await expect(one.look('registry.example/os:1', signal)).rejects.toMatchObject({
      code: 'RegistrySecretMissing',
      message: expect.stringContaining(says),
    })
    expect(asked).toEqual([])
  })
})
