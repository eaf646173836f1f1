import { describe, expect, it } from 'vitest'
import { agentOf, node, nodeState, update } from '../../../test/cli/cli-fixture.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { examine } from './examine.ts'
import type { DoctorView, Finding } from './finding.ts'

const now = new Date('2026-11-15T12:00:00Z')
const meta = { name: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-01T00:00:00Z' }

function policy(spec: MaintenancePolicy['spec'] = {}, status?: MaintenancePolicy['status']): MaintenancePolicy {
  return { metadata: meta, spec, ...(status && { status }) }
}

const stored = (at: string) => ({
  ...{ subject: 's', name: 'b', node: 'cp1', location: 'x', sha256: 'a'.repeat(64), bytes: 1, revision: '1' },
  verified: 'Hash' as const,
  at,
})

/** A cluster in which everything is as it should be. */
function healthy(changes: Partial<DoctorView> = {}): DoctorView {
  const backups = [{ store: 'nightly', lastSuccess: stored('2026-11-15T02:00:00Z') }]
  return {
    now,
    version: '0.1.0',
    namespace: 'slipway-system',
    serverVersion: 'v1.36.3',
    definitions: { seen: [{ name: 'directupdates.slipway.dev', state: 'Same' }] },
    operator: {
      seen: {
        deployment: { wanted: 2, ready: 2, version: '0.1.0' },
        lease: { holder: 'operator-a', renewedAt: '2026-11-15T11:59:55Z', seconds: 15 },
      },
    },
    agentSelector: undefined,
    fencesWanted: ['slipway-agent-own-status'],
    fences: { seen: [{ name: 'slipway-agent-own-status', bound: true }] },
    rights: { seen: [{ what: 'list nodes', purpose: 'slipway nodes', allowed: true }] },
    foreign: { seen: [] },
    policy: { seen: policy({ backupStores: [{ name: 'nightly', path: '/backups' }] }, { backups }) },
    updates: { seen: [] },
    nodes: { seen: [node('cp1', { controlPlane: true }), node('w1')] },
    states: { seen: ['cp1', 'w1'].map((name) => nodeState(name, undefined, agentOf())) },
    sights: {
      api: { seen: { ready: true } },
      deprecated: { seen: [] },
      stored: { seen: [] },
      pods: { seen: { loads: new Map(), budgets: [], underTwo: { total: 0, first: [] } } },
      webhooks: { seen: [] },
      heartbeats: { seen: { at: now, renewedAt: new Map(['cp1', 'w1'].map((name) => [name, now.toISOString()])) } },
    },
    ...changes,
  }
}

function notFine(view: DoctorView): readonly Finding[] {
  return examine(view).findings.filter(({ result }) => result !== 'Ok')
}

describe('the doctor', () => {
  it('has nothing to say of a healthy cluster', () => {
    const { ready, summary } = examine(healthy())
    expect(notFine(healthy())).toEqual([])
    expect({ ready, ...summary }).toMatchObject({ ready: true, problems: 0, warnings: 0, unknown: 0 })
    expect(summary.ok).toBeGreaterThan(12)
  })

  it('says before Slipway is there what to do, and still looks at the cluster', () => {
    const bare = healthy({
      definitions: { seen: [{ name: 'directupdates.slipway.dev', state: 'Missing' }] },
      states: { unseen: 'no such kind' },
      policy: { unseen: 'no such kind' },
      nodes: { seen: [node('cp1', { controlPlane: true, notReady: true })] },
    })
    expect(notFine(bare)).toMatchObject([
      { check: 'Kinds', result: 'Problem', code: 'CrdsMissing', nextStep: expect.stringContaining('slipway install') },
      { check: 'NodesReady', result: 'Problem' },
    ])
  })

  const kured = { tool: 'kured', where: 'DaemonSet kube-system/kured', namespace: 'kube-system', name: 'kured' }
  const locks = [{ type: 'Kured' as const, daemonSet: { namespace: 'kube-system', name: 'kured' } }]
  const backupStores = [{ name: 'nightly', path: '/backups' }]
  const lastFailure = {
    subject: 's',
    at: '2026-11-15T03:00:00Z',
    reason: { code: 'BackupFailed' as const, message: 'full' },
  }

  it.each<[string, Partial<DoctorView>, Partial<Finding>]>([
    ['an old API server', { serverVersion: 'v1.29.9' }, { result: 'Problem', code: 'ApiTooOld' }],
    [
      'other kinds',
      { definitions: { seen: [{ name: 'x', state: 'Differs' }] } },
      { result: 'Problem', code: 'CrdsOutdated' },
    ],
    ['nobody who leads', { operator: { seen: {} } }, { result: 'Problem', code: 'NoLeader' }],
    [
      'a leader that is silent',
      { operator: { seen: { lease: { holder: 'a', renewedAt: '2026-11-15T11:50:00Z', seconds: 15 } } } },
      { result: 'Problem', code: 'LeaderSilent' },
    ],
    ['a node without an agent', { states: { seen: [nodeState('cp1')] } }, { result: 'Problem', code: 'AgentMissing' }],
    [
      'an agent of another version',
      { version: '0.2.0', operator: { seen: { lease: { holder: 'a', renewedAt: now.toISOString(), seconds: 15 } } } },
      { result: 'Warning', code: 'AgentVersionDiffers' },
    ],
    ['no fence', { fences: { seen: [] } }, { result: 'Problem', code: 'FenceMissing' }],
    [
      'a fence that is not bound',
      { fences: { seen: [{ name: 'slipway-agent-own-status', bound: false }] } },
      { code: 'FenceMissing', message: 'admission policies without a binding that denies: slipway-agent-own-status' },
    ],
    [
      'a fence that is gone',
      { fencesWanted: ['slipway-agent-own-status', 'slipway-approvals', 'slipway-host-code'] },
      {
        ...{ result: 'Problem', code: 'FenceMissing' },
        message: 'admission policies that are missing: slipway-approvals, slipway-host-code',
      },
    ],
    [
      'a right that is missing',
      { rights: { seen: [{ what: 'patch nodes', purpose: 'slipway hold', allowed: false }] } },
      { result: 'Warning', code: 'RightMissing', message: 'you may not patch nodes: slipway hold will be refused' },
    ],
    ['kured', { foreign: { seen: [kured] } }, { result: 'Warning', code: 'OtherToolRuns' }],
    [
      'a pause',
      {
        policy: {
          seen: policy(
            { paused: true, backupStores },
            { backups: [{ store: 'nightly', lastSuccess: stored(now.toISOString()) }] },
          ),
        },
      },
      { code: 'PolicyPaused' },
    ],
    ['no store', { policy: { seen: policy() } }, { result: 'Warning', code: 'BackupStoreMissing' }],
    ['no backup', { policy: { seen: policy({ backupStores }) } }, { result: 'Warning', code: 'BackupNeverMade' }],
    [
      'an old backup',
      {
        policy: {
          seen: policy(
            { backupStores },
            { backups: [{ store: 'nightly', lastSuccess: stored('2026-10-15T02:00:00Z') }] },
          ),
        },
      },
      { result: 'Warning', code: 'BackupOld' },
    ],
    [
      'a backup that failed',
      { policy: { seen: policy({ backupStores }, { backups: [{ store: 'nightly', lastFailure }] }) } },
      { result: 'Problem', code: 'BackupFailed' },
    ],
    ['what may not be read', { fences: { unseen: 'you may not' } }, { result: 'Unknown', code: 'NotSeen' }],
    [
      'a budget that never allows',
      {
        sights: {
          ...healthy().sights,
          pods: {
            seen: {
              loads: new Map(),
              budgets: [
                { name: 'shop/web', current: true, expectedPods: 1, desiredHealthy: 1, pods: 1, example: 'web-1' },
              ],
              underTwo: { total: 0, first: [] },
            },
          },
        },
      },
      { check: 'DisruptionBudgets', result: 'Problem' },
    ],
  ])('tells of %s, and what to do', (_what, changes, finding) => {
    expect(notFine(healthy(changes))).toEqual([expect.objectContaining({ ...finding, nextStep: expect.any(String) })])
  })

  const made = (store: string, at: string) => {
    const { subject: _subject, name: _name, ...backup } = stored(at)
    return update({ backups: [{ ...backup, step: 'ControlPlane v1.36.3', store }] })
  }
  it.each<[string, string, NonNullable<MaintenancePolicy['status']>['backups'], readonly string[]]>([
    ['where no other was made', '2026-11-15T04:00:00Z', [], []],
    ['after one that failed', '2026-11-15T04:00:00Z', [{ store: 'nightly', lastFailure }], []],
    ['before one that failed', '2026-11-15T02:00:00Z', [{ store: 'nightly', lastFailure }], ['BackupFailed']],
    ['long ago', '2026-10-15T02:00:00Z', [], ['BackupOld']],
  ])('counts the backup of an update, %s', (_when, at, backups, codes) => {
    const updates = {
      seen: [made('nightly', '2026-10-01T00:00:00Z'), made('nightly', at), made('other', now.toISOString())],
    }
    const view = healthy({ policy: { seen: policy({ backupStores }, { backups }) }, updates })
    expect(notFine(view).map(({ code }) => code)).toEqual(codes)
  })

  it('judges no backup where the updates may not be read', () => {
    const view = healthy({ policy: { seen: policy({ backupStores }) }, updates: { unseen: 'you may not' } })
    expect(notFine(view)).toMatchObject([{ check: 'Backups', result: 'Unknown', code: 'NotSeen' }])
  })

  it('says how to find the agents, by labels that their pods have', () => {
    const [finding] = notFine(healthy({ namespace: 'ops', states: { seen: [nodeState('cp1')] } }))
    expect(finding?.nextStep).toContain(
      'kubectl -n ops get pods -o wide --selector app.kubernetes.io/name=slipway,app.kubernetes.io/component=agent',
    )
  })

  const linux = { 'kubernetes.io/os': 'linux' }
  it.each<[string, DoctorView['agentSelector'], string]>([
    ['on every node that may run Linux where they are no pods', undefined, 'no agent has reported from w2, w3'],
    ['on Linux as it comes', linux, 'no agent has reported from w2'],
    ['where the chart wants them', { pool: 'edge' }, 'an agent has reported from each of 1 nodes'],
    ['somewhere', { pool: 'egde' }, 'no node has the labels that the agents want, so that none runs'],
  ])('expects agents %s', (_where, agentSelector, message) => {
    const found = [
      node('w1', { labels: { ...linux, pool: 'edge' } }),
      node('w2', { labels: linux }),
      node('w3'),
      node('win', { labels: { 'kubernetes.io/os': 'windows' } }),
    ]
    const view = healthy({ agentSelector, nodes: { seen: found }, states: { seen: [nodeState('w1')] } })
    expect(examine(view).findings.find(({ check }) => check === 'Agents')?.message).toBe(message)
  })

  it('lets kured be where its lock is taken', () => {
    const backups = [{ store: 'nightly', lastSuccess: stored(now.toISOString()) }]
    const shared = healthy({
      foreign: { seen: [kured] },
      policy: { seen: policy({ locks, backupStores }, { backups }) },
    })
    expect(notFine(shared)).toEqual([])
  })
})
