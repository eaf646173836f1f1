import { describe, expect, it } from 'vitest'
import { cliFixture, node, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { daemonSets, leases, nodes } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { KubeError } from '../../api/kube-error.ts'

const definition = (description: string) => ({
  metadata: { name: 'directupdates.slipway.dev' },
  spec: { versions: [{ name: 'v1alpha1', served: true, schema: { openAPIV3Schema: { description } } }] },
})

function doctored(api: FakeKubeApi, there = definition('ours')) {
  api.put(resourceDefinitionType, there)
  return cliFixture(api, { crds: async () => JSON.stringify(definition('ours')) })
}

describe('doctor', () => {
  it('tells each thing in a line, with what to do below it', async () => {
    const cli = doctored(upgradeMidway(), definition('another'))
    expect(await cli.run('doctor')).toBe(3)
    expect(cli.out.text).toMatch(
      /^problem {2}Kinds +CrdsOutdated: not as this program knows them: directupdates.slipway.dev;.*\n +next: use the program/m,
    )
    expect(cli.out.text).toMatch(/^ok {7}Api +Kubernetes v\S+ answers$/m)
    expect(cli.out.text).toMatch(/\n\d+ problems?, \d+ warnings?, .*\d+ fine\n$/)
  })

  it('leaves out what is fine with --quiet', async () => {
    const cli = doctored(upgradeMidway())
    await cli.run('doctor', '--quiet')
    expect(cli.out.text).not.toMatch(/^ok/m)
    expect(cli.out.text).toMatch(/^problem {2}Operator +NoLeader/m)
  })

  it('knows the leader by its Lease, and kured by its image', async () => {
    const spec = { holderIdentity: 'operator-a', renewTime: '2026-11-15T12:04:58Z', leaseDurationSeconds: 15 }
    const template = { spec: { containers: [{ name: 'x', image: 'ghcr.io/kubereboot/kured:1.17' }] } }
    const api = upgradeMidway()
      .put(leases, { metadata: { name: 'slipway-operator', namespace: 'slipway-system' }, spec })
      .put(daemonSets, { metadata: { name: 'reboots', namespace: 'ops' }, spec: { selector: {}, template } })
    const cli = doctored(api)
    await cli.run('doctor', '-o', 'json')
    const { findings } = JSON.parse(cli.out.text) as { findings: { check: string; code: string; message: string }[] }
    expect(findings).toContainEqual({
      check: 'Operator',
      result: 'Ok',
      code: 'Operator',
      message: 'operator-a leads; it renewed its Lease 2 s ago',
    })
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'OtherToolRuns',
        message: expect.stringContaining('DaemonSet ops/reboots runs'),
      }),
    )
  })

  it('misses the admission policies that install would make', async () => {
    const metadata = { name: 'slipway-agent-own-status' }
    const spec = { policyName: metadata.name, validationActions: ['Deny'] }
    const admission = (kind: string, plural: string) =>
      ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, plural, namespaced: false }) as const
    const api = upgradeMidway()
      .put(admission('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'), { metadata })
      .put(admission('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'), { metadata, spec })
    const cli = doctored(api)
    await cli.run('doctor')
    expect(cli.out.text).toMatch(/^problem {2}Fences +FenceMissing: admission policies that are missing: .*host-code/m)
    expect(cli.out.text).not.toContain('slipway-agent-own-status')
  })

  it('expects agents where their DaemonSet wants them', async () => {
    const metadata = { name: 'slipway-agent', namespace: 'slipway-system' }
    const template = { spec: { nodeSelector: { pool: 'a' }, containers: [] } }
    const api = upgradeMidway()
      .put(daemonSets, { metadata, spec: { selector: {}, template } })
      .put(nodes, node('win', { labels: { 'kubernetes.io/os': 'windows' } }), node('bare'))
    const cli = doctored(api)
    await cli.run('doctor')
    expect(cli.out.text).toMatch(/^ok {7}Agents +an agent has reported from each of 2 nodes$/m)
  })

  it('is an answer as well when nobody answers', async () => {
    const api = new FakeKubeApi()
    api.failure = new KubeError('Unreachable', 'connect ECONNREFUSED')
    const cli = doctored(api)
    expect(await cli.run('doctor', '-o', 'json')).toBe(4)
    expect(JSON.parse(cli.out.text)).toMatchObject({ ready: false, findings: [{ check: 'Api', code: 'CannotReach' }] })
  })

  it('tells what may not be read, and goes on', async () => {
    const api = upgradeMidway()
    api.before = (_verb, { plural }) => {
      if (plural === 'customresourcedefinitions') throw new KubeError('Forbidden', 'no', { status: 403 })
    }
    const cli = doctored(api)
    await cli.run('doctor')
    expect(cli.out.text).toMatch(/^unknown {2}Kinds +NotSeen: the CustomResourceDefinitions cannot be read/m)
    expect(cli.out.text).toMatch(/^ok {7}NodesReady/m)
  })
})
