import { describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodeStateStatusSchema } from '../../api/node-state.ts'
import { kindsThatGo } from '../../core/preflight/removed-apis.ts'
import { operatorPodSelector } from '../../operator/cluster/cluster.ts'
import { admissionPolicy } from './admission.ts'
import { agentClusterRights, agentNamespaceRights } from './agent-rights.ts'
import { allRights } from './all-rights.ts'
import type { Manifest } from './manifest.ts'
import { manifests } from './manifests.ts'
import type { Right } from './right.ts'
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
      ...['ClusterRole', 'ClusterRole', 'ClusterRole', 'ClusterRole', 'Role'],
      ...Array(6).fill(['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']).flat(),
      ...['PodDisruptionBudget', 'Service', 'NetworkPolicy', 'Deployment', 'DaemonSet'],
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

  it('asks for rights over resources of other systems only where they are to be carried out', async () => {
    const without = cliFixture(new FakeKubeApi())
    expect(await without.run('install', '--print')).toBe(0)
    expect(without.out.text).not.toContain('"cupcake.ricardomolendijk.com"')
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('install', '--print', '--with-foreign')).toBe(0)
    expect(cli.out.text.match(/kind: CustomResourceDefinition/g)).toHaveLength(2)
    const objects = cli.out.text.split('\n---\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text)] : []))
    const [role, binding] = objects.filter(({ metadata }) => metadata.name === 'slipway-operator-foreign')
    expect(role).toMatchObject({
      kind: 'ClusterRole',
      rules: expect.arrayContaining([
        {
          apiGroups: ['cupcake.ricardomolendijk.com'],
          resources: ['directupdates', 'scheduledupdates', 'updateschedules'],
          verbs: ['list', 'watch', 'patch'],
        },
      ]),
    })
    expect(binding).toMatchObject({ kind: 'ClusterRoleBinding', roleRef: { name: 'slipway-operator-foreign' } })
  })

  it('is refused on a cluster that has no admission policies', async () => {
    const api = new FakeKubeApi()
    api.serverVersion = async () => 'v1.29.15'
    const cli = cliFixture(api)
    expect(await cli.run('install')).toBe(3)
    expect(cli.err.text).toContain(
      'error: Slipway needs Kubernetes 1.30 or newer; this cluster has v1.29.15 [Refused]\nnext: upgrade',
    )
    expect(api.created).toEqual([])
  })

  it('gives the agent nothing over nodes, pods or secrets', () => {
    expect([...agentClusterRights, ...agentNamespaceRights].map(({ rule }) => rule)).toEqual([
      { apiGroups: ['slipway.dev'], resources: ['nodestates'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['slipway.dev'], resources: ['nodestates/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ])
  })

  it.each([false, true])('lets the agent change nothing of its status but its own half (hosts: %s)', (hostService) => {
    const [policy] = admissionPolicy({ ...settings, hostService })
    const free = nodeStateStatusSchema.keyof().options.filter((field) => {
      return !JSON.stringify(policy).includes(`variables.after.${field} == variables.before.${field}`)
    })
    expect(free).toEqual(['agent'])
  })

  it('labels the operator pods as the operator looks for them', () => {
    const { labels } = operatorDeployment(settings).metadata
    expect(operatorPodSelector.split(',').map((term) => term.split('='))).toEqual(Object.entries(labels ?? {}))
  })

  it('leaves out what only upgrades of Kubernetes need, where only reboots are wanted', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('install', '--print', '--only', 'reboots')).toBe(0)
    expect(cli.out.text).not.toContain('kube-system')
    expect(cli.out.text).not.toContain('kubeadm-config')
    expect(cli.out.text).not.toContain('/metrics"],"verbs"')
    const whole = manifests(settings)
    const rules = (all: readonly Manifest[]) =>
      all.flatMap((object) => (Array.isArray(object.rules) ? object.rules : [])).map((rule) => JSON.stringify(rule))
    const left = rules(manifests({ ...settings, only: 'reboots' }))
    expect(rules(whole)).toEqual(expect.arrayContaining(left))
    // Two rules in kube-system, one page, and a rule for each group of kinds that go.
    expect(rules(whole).length - left.length).toBe(3 + kindsThatGo().size)
    expect(cli.out.text.match(/"--only=reboots"/g)).toHaveLength(1)
    expect(JSON.stringify(whole)).not.toContain('--only')
    expect(await cli.run('install', '--print', '--only', 'upgrades')).toBe(2)
  })

  it('labels everything as its own, so that it is found again', () => {
    for (const { metadata } of manifests({ ...settings, foreign: true, locks: [{ namespace: 'x', name: 'kured' }] })) {
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'slipway' })
    }
  })

  it('uses no wildcard in any rule', () => {
    const rules = allRights.flatMap(({ rights }) => rights)
    for (const { rule } of rules) {
      expect(Object.values(rule).flat().join(' ')).not.toContain('*')
    }
  })

  it('lets the operator get the Secrets that are named, in its own namespace; it cannot list them, and agents have none', () => {
    const about = (rules: readonly Right[]) =>
      rules.filter(({ rule }) => 'resources' in rule && rule.resources.includes('secrets'))
    const found = allRights.flatMap(({ holder, namespace, rights }) =>
      about(rights).map(({ rule }) => ({ holder, namespace, verbs: rule.verbs })),
    )
    expect(found).toEqual([{ holder: 'Operator', namespace: 'own', verbs: ['get'] }])
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
    expect(cli.out.text).not.toContain('--only')
    expect(await cli.run('install', '--print-unit', '--only', 'reboots')).toBe(0)
    expect(cli.out.text).toContain(' --only=reboots\nRestart=')
  })
})
