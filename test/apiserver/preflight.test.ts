// Each preflight check against a real API server: something is made wrong, and an update that was just created says so before
// it touches anything.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type DirectUpdateSpec, type DirectUpdateStatus, directUpdates } from '../../src/api/direct-update.ts'
import { jobs, leases } from '../../src/api/kube.ts'
import { type CheckName, type CheckReport, checkNames } from '../../src/api/preflight.ts'
import type { ReasonCode } from '../../src/api/reason.ts'
import { startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { renewNodeLease } from '../rollout-rig/cluster-objects.ts'
import { kubectl } from '../rollout-rig/installation.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { current, lookAt, next, PreflightBed, toNext } from './preflight-bed.ts'
import {
  large,
  serviceRange,
  single,
  slice,
  twice,
  unscaled,
  webhook,
  webhookOnDelete,
  webhookOutside,
} from './preflight-objects.ts'
import { realClient } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const onlyW1 = { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } }
const onlyControlPlane = {
  nodeSelector: { matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' as const }] },
}
const airGapped = { bundle: { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) } }
const lastOrder = (code: ReasonCode, message: string) => ({
  ...{ id: 'before/1', state: 'Failed', steps: [] },
  reason: { code, message },
})

interface Case {
  readonly check: CheckName
  readonly what: string
  readonly result?: CheckReport['result']
  readonly says: RegExp
  readonly spec?: DirectUpdateSpec
  /** Where users know it by another reason than PreflightFailed. */
  readonly reason?: string
  /** Only an edit of the update would help. */
  readonly lasting?: boolean
  readonly arrange?: (bed: PreflightBed) => Promise<unknown>
  /** What is said of nodes is always put back. */
  readonly undo?: (bed: PreflightBed) => Promise<unknown>
}

const cases: readonly Case[] = [
  {
    check: 'Agents',
    what: 'an agent that is older than the operator',
    arrange: (bed) => bed.reports('w1', {}, { version: '0.0.1' }),
    says: /the agents on w1 are older \(0\.0\.1\)/,
    reason: 'AgentOld',
  },
  {
    check: 'VersionPath',
    what: 'a version below the kubelets',
    spec: { kubernetes: { version: 'v1.35.9' } },
    says: /c1 runs v1\.36\.3, which is newer/,
    reason: 'Downgrade',
    lasting: true,
  },
  {
    check: 'PackageVersion',
    what: 'a version no repository has',
    arrange: (bed) => bed.reports('w1', { versionsOnOffer: ['v1.37.1'] }),
    says: /w1 cannot install v1\.37\.0; on offer: v1\.37\.1/,
    reason: 'VersionUnknown',
  },
  {
    check: 'NodesReady',
    what: 'a control-plane node that is away',
    arrange: (bed) => bed.shows('c2', { holds: [] }),
    says: /of the control plane c2 is not Ready/,
  },
  {
    check: 'DiskSpace',
    what: 'a node under disk pressure',
    arrange: (bed) => bed.shows('w2', { holds: ['Ready', 'DiskPressure'] }),
    says: /w2 reports DiskPressure/,
  },
  {
    check: 'DiskSpace',
    what: 'a host with little space left',
    arrange: (bed) => bed.reports('w2', { freeGiB: 1 }),
    says: /w2 has less than 2 GiB free/,
  },
  {
    check: 'MemoryPressure',
    what: 'a node under memory pressure',
    arrange: (bed) => bed.shows('w2', { holds: ['Ready', 'MemoryPressure'] }),
    says: /w2 reports MemoryPressure/,
  },
  {
    check: 'VersionSkew',
    what: 'API servers two minor versions apart',
    arrange: (bed) => bed.reports('c2', { apiServer: 'v1.34.9' }),
    // The path is refused first, for the same node: it would skip a minor version.
    spec: { ...toNext, preflight: { skip: ['VersionPath'] } },
    says: /API servers run v1\.34\.9 and v1\.36\.3/,
  },
  {
    check: 'TargetRequirements',
    what: 'a host with containerd 1 on its way to 1.36',
    arrange: async (bed) => {
      await bed.shows('w1', { kubelet: 'v1.35.4', runtime: 'containerd://1.7.27' })
      await bed.reports('w1', { kubelet: 'v1.35.4' })
    },
    spec: { kubernetes: { version: current }, ...onlyW1 },
    says: /Kubernetes 1\.36 needs containerd 2\.0 or later: w1 has containerd 1\.7\.27/,
  },
  {
    check: 'TargetRequirements',
    what: 'a host with cgroup v1 on its way to 1.35',
    arrange: async (bed) => {
      await bed.shows('w1', { kubelet: 'v1.34.9' })
      await bed.reports('w1', { kubelet: 'v1.34.9', cgroup: 'v1' })
    },
    spec: { kubernetes: { version: 'v1.35.4' }, ...onlyW1 },
    says: /Kubernetes 1\.35 needs cgroup v2 .*: w1 has cgroup v1 /,
  },
  {
    check: 'TargetRequirements',
    what: 'a control plane with etcd 3.5.24 on its way to 1.34',
    arrange: async (bed) => {
      for (const name of ['c1', 'c2'] as const) {
        await bed.shows(name, { kubelet: 'v1.33.9' })
        const etcd = name === 'c1' ? '3.5.24-0' : '3.5.26-0'
        await bed.reports(name, { kubelet: 'v1.33.9', apiServer: 'v1.33.9', etcd })
      }
    },
    spec: { kubernetes: { version: 'v1.34.9' }, ...onlyControlPlane },
    says: /Kubernetes 1\.34 needs etcd 3\.5\.26 or later.*: c1 has etcd 3\.5\.24-0 /,
  },
  {
    check: 'KubeletFlags',
    what: 'a flag that the target does not know',
    arrange: (bed) => bed.reports('w1', { kubeletFlags: ['pod-infra-container-image'] }),
    says: /--pod-infra-container-image \(w1\)/,
  },
  {
    check: 'DisruptionBudgets',
    what: 'a budget of one for one pod',
    arrange: (bed) => bed.apply(...single),
    undo: (bed) => bed.remove(...single),
    says: /default\/single \(wants 1 of 1 pods healthy, as default\/single\)/,
  },
  {
    check: 'DisruptionBudgets',
    what: 'a budget that the controller cannot reckon',
    arrange: async (bed) => {
      await bed.apply(unscaled.job)
      const { metadata } = await bed.api.get(jobs, { name: 'unscaled', namespace: 'default' }, signal)
      await bed.apply(...unscaled.podsOf(metadata.uid))
    },
    undo: (bed) => bed.remove(...unscaled.podsOf(''), unscaled.job),
    says: /cannot reckon.*: default\/unscaled \(.*does not implement the scale subresource\); give them minAvailable/,
  },
  {
    check: 'PodsUnderTwoBudgets',
    what: 'a pod that two budgets select',
    arrange: (bed) => bed.apply(...twice),
    undo: (bed) => bed.remove(...twice),
    says: /default\/twice \(default\/twice-a and default\/twice-b\)/,
  },
  {
    check: 'Capacity',
    what: 'pods that fit nowhere else',
    arrange: (bed) => bed.apply(...large),
    undo: (bed) => bed.remove(...large),
    says: /default\/large asks for 3 CPU.* fit nowhere else/,
  },
  {
    check: 'Certificates',
    what: 'a certificate that has run out',
    arrange: (bed) => bed.reports('c1', { certificatesExpireAt: '2026-01-01T00:00:00Z' }),
    says: /c1 \(2026-01-01T00:00:00Z\); renew them/,
  },
  {
    check: 'Sources',
    what: 'an image for hosts with packages',
    arrange: (bed) => bed.reports('w1', {}, { drivers: ['osimage'] }),
    spec: { os: { image: 'registry.example/os:1' }, ...onlyW1 },
    says: /os\.image is for image-based hosts; w1 has packages/,
  },
  {
    check: 'Sources',
    what: 'a repository that a host did not reach',
    arrange: (bed) => bed.reports('w1', {}, { order: lastOrder('RepositoryMissing', 'pkgs.example does not answer') }),
    result: 'Warning',
    says: /when last tried, sources failed on w1: pkgs\.example does not answer/,
  },
  {
    check: 'Bundle',
    what: 'a bundle that a host found wanting',
    arrange: (bed) => bed.reports('w1', {}, { order: lastOrder('BundleIncomplete', 'kubelet is not in it') }),
    spec: { ...toNext, airGapped },
    result: 'Warning',
    says: /it failed on w1: kubelet is not in it/,
  },
  {
    check: 'ClockSkew',
    what: 'a host ten minutes ahead',
    arrange: (bed) => renewNodeLease(bed.api, 'w2', new Date(Date.now() + 600_000), signal),
    says: /w2 \(at least \d+ s ahead\)/,
  },
  {
    check: 'ClockSkew',
    what: 'a host without a Lease',
    arrange: (bed) => bed.api.delete(leases, { name: 'w2', namespace: 'kube-node-lease' }, {}, signal),
    says: /the clocks of w2 are not known/,
  },
  {
    check: 'ControlPlaneEndpoint',
    what: 'a control-plane kubelet that talks to the load balancer',
    arrange: (bed) => bed.reports('c1', { kubeletServer: { url: 'https://lb.example:6443', own: false } }),
    result: 'Warning',
    says: /c1 \(https:\/\/lb\.example:6443\)/,
  },
  {
    check: 'Webhooks',
    what: 'a webhook on evictions that nobody answers',
    arrange: (bed) => bed.apply(webhook),
    undo: (bed) => bed.remove(webhook),
    says: /evictions\.policy\.example \(asked about evicting pods\): service default\/nobody has no ready endpoint/,
  },
  {
    check: 'Webhooks',
    what: 'a webhook that runs on one node of the update only',
    arrange: (bed) => bed.apply(webhook, slice),
    undo: (bed) => bed.remove(webhook, slice),
    result: 'Warning',
    says: /service default\/nobody runs on w1 only/,
  },
  {
    check: 'Webhooks',
    what: 'a webhook on deleted pods that nobody answers',
    arrange: (bed) => bed.apply(webhookOnDelete),
    undo: (bed) => bed.remove(webhookOnDelete),
    says: /deletes\.policy\.example \(asked about deleting pods\): service default\/nobody has no ready endpoint/,
  },
  {
    check: 'Webhooks',
    what: 'a webhook behind a URL',
    arrange: (bed) => bed.apply(webhookOutside),
    undo: (bed) => bed.remove(webhookOutside),
    result: 'Warning',
    says: /outside\.policy\.example \(asked about evicting pods\) is behind https:\/\/guard\.invalid\/ask/,
  },
  {
    check: 'PolicyBudgets',
    what: 'a policy that lets nothing start',
    result: 'Warning',
    says: /MaintenancePolicy\/default is paused/,
  },
]

const planned = ({ conditions }: DirectUpdateStatus) => conditions?.find(({ type }) => type === 'Planned')

describe.skipIf(missing)('preflight', () => {
  let bed: PreflightBed

  beforeAll(async () => {
    bed = await PreflightBed.open()
  })
  afterAll(() => bed?.close())

  test('lets an update go where nothing is wrong, and says what it looked at', async () => {
    const going = (status: DirectUpdateStatus) => expect(planned(status)?.message).toBe('the update can be carried out')
    const { preflight = [] } = await bed.judged(toNext, going)
    const all = checkNames.filter((name) => name !== 'Bundle').map((name) => [name, 'Passed'])
    const paused = { PolicyBudgets: 'Warning' }
    expect(Object.fromEntries(preflight.map(({ check, result }) => [check, result]))).toEqual({
      ...Object.fromEntries(all),
      ...paused,
    })
  })

  test.each(cases)('$check: $what', async ({ check, result = 'Failed', says, spec = toNext, ...rest }) => {
    const { reason = 'PreflightFailed', lasting = false, arrange, undo } = rest
    const expected = { check, result, message: expect.stringMatching(says) }
    try {
      await arrange?.(bed)
      const status = await bed.judged(spec, ({ preflight }) => expect(preflight).toContainEqual(expected))
      if (result === 'Warning') return expect(planned(status)).toMatchObject({ status: 'True' })
      expect(planned(status)).toMatchObject({ status: 'False', reason, message: expect.stringMatching(says) })
      expect(status.phase).toBe(lasting ? 'Failed' : 'Pending')
    } finally {
      await undo?.(bed)
      await bed.putBack()
    }
  })

  test('a check that is skipped does not count, and what it would have said is kept', async () => {
    await bed.apply(...single)
    try {
      const skipping: DirectUpdateSpec = { ...toNext, preflight: { skip: ['DisruptionBudgets'] } }
      const message = expect.stringMatching(/^skipped; it would have said Failed: .*default\/single/)
      const status = await bed.judged(skipping, ({ preflight }) =>
        expect(preflight).toContainEqual({ check: 'DisruptionBudgets', result: 'Skipped', message }),
      )
      expect(planned(status)).toMatchObject({ status: 'True' })
    } finally {
      await bed.remove(...single)
    }
  })

  test('the command line refuses it at once, names the check, and creates nothing', async () => {
    await bed.apply(...twice)
    try {
      const { code, err } = await runSlipway([
        '--kubeconfig',
        bed.server.kubeconfigPath,
        'update',
        '--kubernetes',
        next,
      ])
      expect({ code, err }).toEqual({
        code: 3,
        err: expect.stringMatching(/^error: PreflightFailed: .*PodsUnderTwoBudgets \(Failed\)/),
      })
      expect((await bed.api.list(directUpdates, {}, signal)).items).toEqual([])
    } finally {
      await bed.remove(...twice)
    }
  })

  // What comes now cannot be put back.
  test('RemovedApis: objects are kept through an API that goes, and somebody asked for it', async () => {
    await bed.apply(serviceRange)
    const api = String.raw`networking\.k8s\.io/v1beta1 servicecidrs \(gone in 1\.37\)`
    const message = expect.stringMatching(new RegExp(`^${api} is asked for; ${api} keeps ServiceCIDR spare: `))
    const status = await bed.judged(toNext, ({ preflight }) =>
      expect(preflight).toContainEqual({ check: 'RemovedApis', result: 'Failed', message }),
    )
    expect(planned(status)).toMatchObject({ status: 'False', reason: 'PreflightFailed' })
  })

  test(rightsTitle, async () => {
    // Over all the versions by which a kind that it looks for has gone or goes.
    await bed.seenByOperator('v1.28.0', 'v1.38.0')
    await bed.stopOperator()
    await expectRightsUsed(bed.server, 'preflight')
  })

  test('what may not be read is unknown, not fine', async () => {
    await kubectl(bed.server, ['delete', 'clusterrolebinding', 'slipway-operator'])
    await vi.waitFor(async () => {
      const { deprecated, pods, webhooks } = await bed.seenByOperator()
      expect(deprecated).toEqual({ unseen: expect.stringMatching(/^\/metrics cannot be read: /) })
      expect(pods).toEqual({ unseen: expect.stringMatching(/cannot be read: .*cannot list resource/) })
      expect(webhooks).toEqual({ unseen: expect.stringMatching(/cannot be read: .*cannot list resource/) })
    }, 60_000)
  })
})

describe.skipIf(missing)('an API server on its way down', () => {
  test('ApiReady: says that it is not ready', async () => {
    const server = await startApiServer({ controllers: false, apiArguments: ['--shutdown-delay-duration=30s'] })
    const { api } = await realClient(server.kubeconfigPath)
    try {
      process.kill(server.pids['kube-apiserver'] ?? 0, 'SIGTERM')
      await vi.waitFor(async () => {
        const sights = await lookAt(api)
        expect(sights.api).toEqual({ seen: { ready: false, failing: expect.stringMatching(/^\[-\]shutdown failed/) } })
      }, 60_000)
    } finally {
      await api.close()
      await server.stop()
    }
  })
})
