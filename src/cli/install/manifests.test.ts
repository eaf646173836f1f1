import { describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { operatorPodSelector } from '../../operator/cluster/cluster.ts'
import { manifests } from './manifests.ts'
import * as rights from './rights.ts'
import { operatorDeployment } from './workloads.ts'

const settings = { namespace: 'slipway-system', image: 'slipway:1.0.0' }

describe('install --print', () => {
  it('prints the namespace, then the CRDs, then the rest', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('install', '--print', '--namespace', 'ops', '--image', 'r.example/s:2')).toBe(0)
    const kinds = cli.out.text.split('\n---\n').map((text) => (text.startsWith('{') ? JSON.parse(text).kind : text))
    expect(kinds).toEqual([
      ...['Namespace', 'kind: CustomResourceDefinition'],
      ...['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
      ...['Role', 'RoleBinding', 'Role', 'RoleBinding', 'Role', 'RoleBinding'],
      ...['ClusterRole', 'ClusterRoleBinding'],
      ...['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
      ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding', 'Deployment', 'DaemonSet'],
    ])
    expect(cli.out.text).not.toContain('slipway-system')
    expect(cli.out.text.match(/r\.example\/s:2/g)).toHaveLength(2)
  })

  it('gives the right over the DaemonSet whose lock is taken, and no other', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('install', '--print', '--lock', 'kured=kube-system/kured')).toBe(0)
    const objects = cli.out.text.split('\n---\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text)] : []))
    expect(objects.filter(({ metadata }) => metadata.name === 'slipway-operator-lock-kured')).toMatchObject([
      {
        kind: 'Role',
        metadata: { namespace: 'kube-system' },
        rules: [
          {
            apiGroups: ['apps'],
            resources: ['daemonsets'],
            resourceNames: ['kured'],
            verbs: ['list', 'watch', 'patch'],
          },
        ],
      },
      { kind: 'RoleBinding', subjects: [{ kind: 'ServiceAccount', name: 'slipway-operator' }] },
    ])
    expect(await cli.run('install', '--print', '--lock', 'kured')).toBe(2)
    expect(cli.err.text).toContain('It must be kured=NAMESPACE/DAEMONSET')
  })

  it('gives the agent nothing over nodes, pods or secrets', () => {
    expect([...rights.agentClusterRights, ...rights.agentNamespaceRights].map(({ rule }) => rule)).toEqual([
      { apiGroups: ['slipway.dev'], resources: ['nodestates'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['slipway.dev'], resources: ['nodestates/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ])
  })

  it('labels the operator pods as the operator looks for them', () => {
    const { labels } = operatorDeployment(settings).metadata
    expect(operatorPodSelector.split(',').map((term) => term.split('='))).toEqual(Object.entries(labels ?? {}))
  })

  it('uses no wildcard in any rule', () => {
    const rules = [
      ...rights.operatorClusterRights,
      ...rights.operatorNamespaceRights,
      ...rights.nodeLeaseRights,
      ...rights.controllerLeaseRights,
      ...rights.eventRights,
    ]
    for (const { rule } of rules) {
      expect(Object.values(rule).flat().join(' ')).not.toContain('*')
    }
  })

  it('lets the operator get the Secrets that are named, in its own namespace; it cannot list them, and agents have none', () => {
    const about = (rules: readonly rights.Right[]) =>
      rules.filter(({ rule }) => 'resources' in rule && rule.resources.includes('secrets'))
    const elsewhere = [
      ...rights.operatorClusterRights,
      ...rights.nodeLeaseRights,
      ...rights.controllerLeaseRights,
      ...rights.eventRights,
      ...rights.agentClusterRights,
      ...rights.agentNamespaceRights,
    ]
    expect(about(elsewhere)).toEqual([])
    expect(about(rights.operatorNamespaceRights).map(({ rule }) => rule.verbs)).toEqual([['get']])
  })

  it('binds every account to roles that exist', () => {
    const all = manifests(settings)
    const roles = new Set(all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`))
    const bindings = all.filter(({ kind }) => kind.endsWith('Binding') && kind.includes('Role'))
    expect(bindings).toHaveLength(8)
    for (const { metadata, roleRef } of bindings) {
      expect(roleRef).toMatchObject({ name: expect.any(String), kind: expect.stringMatching(/^(Cluster)?Role$/) })
      const { kind, name } = Object(roleRef)
      expect(roles).toContain(`${kind} ${metadata.namespace ?? ''} ${name}`)
    }
  })
})

describe('install for agents that are services of their hosts', () => {
  it('prints no agent pod and no account: kubelets have the rights', () => {
    const all = manifests({ ...settings, hostService: true })
    expect(all.some(({ kind }) => kind === 'DaemonSet')).toBe(false)
    expect(all.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name)).toEqual([
      'slipway-operator',
    ])
    const bindings = all.filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name === 'slipway-agent')
    expect(bindings.map(({ subjects }) => subjects)).toEqual(
      Array(2).fill([{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:nodes' }]),
    )
  })

  it('prints the unit of such an agent', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('install', '--print-unit')).toBe(0)
    expect(cli.out.text).toContain('\n[Service]\nExecStart=/opt/slipway/node --lite-mode ')
    expect(cli.out.text).toContain(' agent --node-name=%H --kubeconfig=/etc/kubernetes/kubelet.conf ')
  })
})
