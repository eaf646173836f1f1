import { describe, expect, it } from 'vitest'
import { metadata, type NodeTraits, sampleNode } from '../../../test/samples/cluster-objects.ts'
import type { ControlPlaneReport } from '../../api/control-plane.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import { sickness } from './health.ts'
import type { Controllers } from './node-view.ts'

const restarted = '2026-01-01T12:00:05.700Z'
const report = (kubeletRestartedAt?: string): AgentOrder => ({
  id: 'u/1',
  state: 'Succeeded',
  steps: [],
  ...(kubeletRestartedAt !== undefined && { kubeletRestartedAt }),
})

interface Case {
  readonly name: string
  readonly node?: NodeTraits
  readonly target?: string
  readonly restartedAt?: string
  readonly lease?: string
  readonly controllers?: Controllers
  readonly controllersUnknown?: string
  readonly etcd?: Partial<ControlPlaneReport>
  readonly serves?: false
  readonly othersServe?: true
  readonly missing?: { message: string; look: 'node' | 'lease' | 'controllers' }
}

const noHeartbeat = {
  message: `no heartbeat from w1 since its kubelet was restarted at ${restarted}`,
  look: 'node',
} as const
const noLease = {
  message: `the Lease of w1 was not renewed since its kubelet was restarted at ${restarted}`,
  look: 'lease',
} as const

const noControllers = {
  message: `the kube-controller-manager has not led long enough since w1 was restarted at ${restarted}`,
  look: 'controllers',
} as const
const member = { id: '1', name: 'w1', learner: false, healthy: true, leader: false }
const wellReport: ControlPlaneReport = {
  after: 'u/1',
  checkedAt: '2026-01-01T12:00:00Z',
  apiServer: { ready: true },
  etcd: { place: 'Local', member: '1', members: [member], alarms: [] },
}
const withMember = (part: Partial<typeof member> & { readonly problem?: string }): Partial<ControlPlaneReport> => ({
  etcd: { ...wellReport.etcd, members: [{ ...member, ...part }] },
})
/** A script on a control-plane node that restarted nothing. */
const scripted = { node: { controlPlane: true } } as const
const missed = (message: string) => ({ message, look: 'node' }) as const
/** A control-plane node that is well but for the cluster's controllers. */
const controlPlane = {
  restartedAt: restarted,
  node: { controlPlane: true, heartbeat: '2026-01-01T12:00:06Z' },
  lease: '2026-01-01T12:00:06.000001Z',
} as const
const held = (acquired: string, renewed: string): Controllers => ({
  lease: 'held',
  acquiredAt: `2026-01-01T12:${acquired}Z`,
  renewedAt: `2026-01-01T12:${renewed}Z`,
})

describe('health after the work', () => {
  it.each<Case>([
    { name: 'Ready, nothing restarted, no version asked for: healthy' },
    {
      name: 'not Ready',
      node: { ready: 'False' },
      missing: { message: 'w1 is not Ready: container runtime is down', look: 'node' },
    },
    {
      name: 'silent',
      node: { ready: 'Unknown' },
      missing: { message: 'w1 is not Ready: container runtime is down', look: 'node' },
    },
    { name: 'the version asked for', target: 'v1.36.3', node: { kubelet: 'v1.36.3' } },
    { name: 'the version asked for without its v', target: '1.36.3', node: { kubelet: 'v1.36.3' } },
    {
      name: 'the old version',
      target: 'v1.36.3',
      node: { kubelet: 'v1.35.4' },
      missing: { message: 'the kubelet on w1 reports v1.35.4, not v1.36.3', look: 'node' },
    },
    { name: 'restarted, no heartbeat at all', restartedAt: restarted, missing: noHeartbeat },
    {
      name: 'heartbeat from before',
      restartedAt: restarted,
      node: { heartbeat: '2026-01-01T12:00:04Z' },
      missing: noHeartbeat,
    },
    {
      name: 'heartbeat of the same second, Lease not looked at',
      restartedAt: restarted,
      node: { heartbeat: '2026-01-01T12:00:05Z' },
      missing: noLease,
    },
    {
      name: 'Lease from before',
      restartedAt: restarted,
      node: { heartbeat: '2026-01-01T12:00:06Z' },
      lease: '2026-01-01T12:00:04.999999Z',
      missing: noLease,
    },
    {
      name: 'heartbeat and Lease since',
      restartedAt: restarted,
      node: { heartbeat: '2026-01-01T12:00:06Z' },
      lease: '2026-01-01T12:00:06.000001Z',
    },
    { name: 'a control plane whose controllers were not looked at', ...controlPlane, missing: noControllers },
    {
      name: 'the controllers cannot be looked at',
      ...controlPlane,
      controllersUnknown: 'Lease kube-system/kube-controller-manager cannot be read: no',
      missing: { message: 'Lease kube-system/kube-controller-manager cannot be read: no', look: 'controllers' },
    },
    { name: 'a control plane without elected controllers', ...controlPlane, controllers: { lease: 'none' } },
    {
      name: 'controllers that have not renewed since',
      ...controlPlane,
      controllers: held('00:00', '00:04'),
      missing: noControllers,
    },
    { name: 'controllers elsewhere that went on leading', ...controlPlane, controllers: held('00:00', '00:07') },
    {
      name: 'controllers that lead only just',
      ...controlPlane,
      controllers: held('00:20', '00:24'),
      missing: noControllers,
    },
    { name: 'controllers that have led for a while', ...controlPlane, controllers: held('00:20', '00:26') },
    {
      name: 'a control-plane node that has not looked since the work',
      ...scripted,
      etcd: { after: 'u/0' },
      missing: missed('w1 has not looked at its API server and etcd since the work'),
    },
    {
      name: 'its API server is not ready',
      ...scripted,
      etcd: { apiServer: { ready: false, problem: 'etcd failed' } },
      missing: missed('the API server of w1 is not ready: etcd failed'),
    },
    {
      name: 'its API server is gone, and others have theirs',
      ...scripted,
      serves: false,
      othersServe: true,
      missing: missed(
        'w1 has no API server in /etc/kubernetes/manifests/kube-apiserver.yaml that could be asked, as others have',
      ),
    },
    { name: 'nobody tells of an API server, as with k3s', ...scripted, serves: false },
    {
      name: 'its member of etcd is not back',
      ...scripted,
      etcd: withMember({ healthy: false, problem: 'it is 9000 entries behind' }),
      missing: missed('the member of etcd on w1 is not healthy: it is 9000 entries behind'),
    },
    {
      name: 'its member came back as a learner',
      ...scripted,
      etcd: withMember({ learner: true }),
      missing: missed('the member of etcd on w1 is a learner'),
    },
    {
      name: 'etcd has forgotten it',
      ...scripted,
      etcd: withMember({ id: '2' }),
      missing: missed('etcd does not count w1 among its members'),
    },
    {
      name: 'its etcd does not answer',
      ...scripted,
      etcd: { etcd: { ...wellReport.etcd, members: [], reason: { code: 'EtcdUnknown', message: 'refused' } } },
      missing: missed('w1: refused'),
    },
    {
      name: 'an etcd elsewhere that is not well is not its own',
      ...scripted,
      etcd: { etcd: { place: 'External', members: [{ ...member, healthy: false }], alarms: [] } },
    },
    { name: 'its API server is ready and its member back', ...scripted },
    {
      name: 'the version comes before the Lease',
      target: 'v1.36.3',
      restartedAt: restarted,
      node: { heartbeat: '2026-01-01T12:00:06Z' },
      missing: { message: 'the kubelet on w1 reports v1.35.4, not v1.36.3', look: 'node' },
    },
  ])('$name', ({ node, target, restartedAt, lease, controllers, controllersUnknown, etcd, missing, ...told }) => {
    const { apiServer, ...rest } = { ...wellReport, ...etcd }
    const found = sickness(sampleNode('w1', node), {
      target,
      report: report(restartedAt),
      leaseRenewedAt: lease,
      controllers,
      controllersUnknown,
      controlPlane: { ...rest, ...(told.serves !== false && { apiServer }) },
      othersServe: told.othersServe ?? false,
    })
    expect(found).toEqual(
      missing && { reason: { code: 'WaitingForHealth', message: missing.message }, look: missing.look },
    )
  })

  it('a node without any condition says so', () => {
    const found = sickness(
      { metadata: metadata('w1'), spec: {} },
      {
        target: undefined,
        report: report(),
        leaseRenewedAt: undefined,
        controllers: undefined,
        controlPlane: undefined,
        othersServe: false,
      },
    )
    expect(found?.reason.message).toBe('w1 is not Ready: no condition')
  })
})
