import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { namespaces } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { applyManifest } from './apply-manifest.ts'
import { kindOf } from './installed-kinds.ts'
import type { Manifest } from './manifest.ts'
import { manifests } from './manifests.ts'

const { signal } = new AbortController()
const labels = { 'app.kubernetes.io/name': 'slipway' }
const role: Manifest = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'slipway-gates', labels },
  aggregationRule: { clusterRoleSelectors: [] },
}
const roles = kindOf(role)

describe('applyManifest', () => {
  it('makes what is not there', async () => {
    const api = new FakeKubeApi()
    expect(await applyManifest(api, role, signal)).toBe('created')
    expect(api.found(roles, role.metadata)).toMatchObject(role)
  })

  it('keeps labels and annotations of others, and what the cluster fills in', async () => {
    const rules = [{ apiGroups: ['x'], resources: ['y'], verbs: ['get'] }]
    const metadata = { name: 'slipway-gates', labels: { theirs: '1' }, annotations: { theirs: '2' } }
    const api = new FakeKubeApi().put(roles, { metadata, rules })
    expect(await applyManifest(api, role, signal)).toBe('changed')
    expect(api.found(roles, role.metadata)).toMatchObject({
      metadata: { labels: { theirs: '1', ...labels }, annotations: { theirs: '2' } },
      aggregationRule: { clusterRoleSelectors: [] },
      rules,
    })
  })

  it('takes away what is no longer said', async () => {
    const before = { metadata: { name: 'slipway-operator' }, rules: [{ verbs: ['delete'] }] }
    const api = new FakeKubeApi().put(roles, before)
    const { aggregationRule: _none, ...plain } = role
    const wanted = { ...plain, metadata: { name: 'slipway-operator', labels }, rules: [{ verbs: ['get'] }] }
    await applyManifest(api, wanted, signal)
    expect(api.found(roles, wanted.metadata)).toMatchObject({ rules: [{ verbs: ['get'] }] })
  })

  it('reads again what somebody wrote meanwhile', async () => {
    const api = new FakeKubeApi().put(namespaces, { metadata: { name: 'ops' } })
    let conflicts = 2
    api.before = (verb) => {
      if (verb === 'replace' && conflicts-- > 0) throw new KubeError('Conflict', 'changed', { status: 409 })
    }
    const wanted = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ops', labels } }
    expect(await applyManifest(api, wanted, signal)).toBe('changed')
    expect(api.found(namespaces, { name: 'ops' }).metadata.labels).toEqual(labels)
  })
})

it('knows the kind of everything that is installed', () => {
  const all = manifests({ namespace: 'ops', image: 'x', foreign: true, locks: [{ namespace: 'a', name: 'b' }] })
  for (const manifest of all) expect(kindOf(manifest)).toMatchObject({ kind: manifest.kind })
  expect(() => kindOf({ apiVersion: 'v1', kind: 'Secret' })).toThrow('nobody said how Secret (v1) is called')
})
