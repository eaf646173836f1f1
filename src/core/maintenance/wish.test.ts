import { describe, expect, it } from 'vitest'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy, MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { type AgentStatus, type NodeState, nodeStateSpecSchema } from '../../api/node-state.ts'
import { workSchema } from '../../api/work.ts'
import { isStillWished, sentinelFiles, wishOf } from './wish.ts'

const early = '2026-01-01T01:00:00.000Z'
const late = '2026-01-01T02:00:00.000Z'
const sha = (letter: string) => letter.repeat(64)

const node: Node = {
  metadata: {
    name: 'w1',
    uid: 'abcdefgh-1',
    resourceVersion: '1',
    creationTimestamp: early,
    labels: { runtime: 'containerd' },
  },
  spec: {},
}

const policy = (spec: MaintenancePolicySpec): MaintenancePolicy => ({
  metadata: { name: 'default', uid: 'p', resourceVersion: '1', creationTimestamp: '2025-01-01T00:00:00Z' },
  spec,
})

const stateWith = (agent: Partial<AgentStatus>, spec: NodeState['spec'] = {}): NodeState => ({
  metadata: { name: 'w1', uid: 's', resourceVersion: '1', creationTimestamp: early },
  spec,
  status: {
    agent: {
      version: '1',
      bootID: 'b',
      epoch: 1,
      drivers: [],
      facts: { os: '', kernel: '', architecture: '', versionsOnOffer: [] },
      ...agent,
    },
  },
})

const wish = (spec: MaintenancePolicySpec, agent: Partial<AgentStatus> = {}, order?: NodeState['spec']['order']) =>
  wishOf(policy(spec), node, stateWith(agent, order ? { order } : {}), 'slipway-system')

const files = { required: '/var/maintenance-required', inProgress: '/var/maintenance-in-progress' }
const jobs = [
  { name: 'late', configMap: 'late', sha256: sha('a') },
  {
    name: 'first',
    priority: 1,
    url: 'https://example.com/x',
    sha256: sha('b'),
    validate: { configMap: 'v', sha256: sha('c') },
  },
  { name: 'elsewhere', configMap: 'e', sha256: sha('d'), nodeSelector: { matchLabels: { runtime: 'docker' } } },
]

describe('what a node is to be emptied for', () => {
  it.each<{ name: string; spec: MaintenancePolicySpec; sentinels: AgentStatus['sentinels']; work: unknown }>([
    { name: 'nothing', spec: { maintenance: {}, reboots: {} }, sentinels: {}, work: undefined },
    {
      name: 'a wish nobody configured',
      spec: {},
      sentinels: { maintenanceRequired: early, rebootRequired: early },
      work: undefined,
    },
    {
      name: 'its script',
      spec: { maintenance: {} },
      sentinels: { maintenanceRequired: early },
      work: { maintenance: files },
    },
    { name: 'a reboot', spec: { reboots: {} }, sentinels: { rebootRequired: early }, work: { reboot: 'Always' } },
    {
      name: 'both: one drain',
      spec: { maintenance: {}, reboots: {} },
      sentinels: { maintenanceRequired: late, rebootRequired: early },
      work: { maintenance: files, reboot: 'Always' },
    },
    {
      name: 'its script, which may ask for a reboot',
      spec: { maintenance: {}, reboots: {} },
      sentinels: { maintenanceRequired: early },
      work: { maintenance: files, reboot: 'IfRequired' },
    },
  ])('$name', ({ spec, sentinels, work }) => {
    expect(wish(spec, { sentinels })?.work).toEqual(work)
  })

  it('are jobs by their priority, where the node is selected and has not done them', () => {
    const found = wish({ maintenance: { jobs } })
    expect(found?.work.jobs?.map(({ name }) => name)).toEqual(['first', 'late'])
    expect(found?.work.jobs?.[0]).toEqual({
      name: 'first',
      sha256: sha('b'),
      url: 'https://example.com/x',
      validate: {
        configMap: `slipway-content-${sha('c').slice(0, 40)}`,
        namespace: 'slipway-system',
        sha256: sha('c'),
      },
    })
    expect(workSchema.safeParse(found?.work).error).toBeUndefined()
    const done = [{ name: 'first', sha256: sha('b'), finishedAt: late }]
    expect(wish({ maintenance: { jobs } }, { jobs: done })?.work.jobs?.map(({ name }) => name)).toEqual(['late'])
    const other = [{ name: 'first', sha256: sha('f'), finishedAt: late }]
    expect(wish({ maintenance: { jobs } }, { jobs: other })?.work.jobs).toHaveLength(2)
  })

  it('has one id for one wish, and the oldest part decides its place', () => {
    const spec = { maintenance: {}, reboots: {} }
    const sentinels = { maintenanceRequired: late, rebootRequired: early }
    expect(wish(spec, { sentinels })).toMatchObject({
      since: early,
      id: expect.stringMatching(/^maintenance:w1\/abcdefgh-/),
    })
    expect(wish(spec, { sentinels })?.id).toBe(wish(spec, { sentinels: { ...sentinels } })?.id)
    expect(wish(spec, { sentinels })?.id).not.toBe(wish(spec, { sentinels: { rebootRequired: early } })?.id)
  })

  it('is no second reboot for a sentinel that outlived the first', () => {
    const order = { id: 'maintenance:w1/x/1' } as NonNullable<NodeState['spec']['order']>
    const report = (startedAt: string): AgentStatus['order'] => ({
      id: order.id,
      state: 'Succeeded',
      steps: [{ name: 'reboot', state: 'Succeeded', attempts: 1, startedAt }],
    })
    const sentinels = { rebootRequired: early }
    expect(wish({ reboots: {} }, { sentinels, order: report(late) }, order)).toBeUndefined()
    expect(wish({ reboots: {} }, { sentinels: { rebootRequired: late }, order: report(early) }, order)).toBeDefined()
    const asked = (rebootAskedIn: string) =>
      wish({ reboots: {} }, { sentinels: { ...sentinels, rebootAskedIn }, order: report(late) }, order) !== undefined
    // Since then the clock was set back: the boot tells it.
    expect([asked('a'), asked('b')]).toEqual([false, true])
  })
})

describe('a failure', () => {
  const wanted = wish({ maintenance: { jobs } })
  it.each([
    { name: 'its job is still asked for', work: wanted?.work ?? {}, stands: true },
    { name: 'its job is another by now', work: { jobs: [{ name: 'late', sha256: sha('e') }] }, stands: false },
    { name: 'its script took the request back', work: { maintenance: files }, stands: false },
  ])('stands: $name: $stands', ({ work, stands }) => {
    expect(isStillWished(work, wanted)).toBe(stands)
  })

  it('does not stand when nothing is wished for', () => {
    expect(isStillWished({ maintenance: files }, undefined)).toBe(false)
  })
})

describe('what the agent watches for', () => {
  it.each<{ spec: MaintenancePolicySpec; watched: unknown }>([
    { spec: {}, watched: undefined },
    { spec: { maintenance: {} }, watched: { maintenance: files } },
    { spec: { maintenance: { required: '/srv/x' } }, watched: { maintenance: { ...files, required: '/srv/x' } } },
    { spec: { reboots: { sentinels: ['/a'], command: ['b'] } }, watched: { reboot: ['/a'], rebootCommand: ['b'] } },
  ])('$spec', ({ spec, watched }) => {
    expect(sentinelFiles(spec)).toEqual(watched)
    expect(nodeStateSpecSchema.safeParse({ sentinels: sentinelFiles(spec) }).error).toBeUndefined()
  })
})

describe('a reboot that was done for a sentinel that is still there', () => {
  const asked = { reboots: {} }
  const sentinels = { rebootRequired: early }
  const id = wish(asked, { sentinels })?.id ?? ''
  const rollout = { update: 'default', operationID: id, phase: 'Done' as const, since: late, attempt: 1 }
  const again = (status: Partial<NodeState['status']>, more: AgentStatus['sentinels'] = {}) => {
    const state = stateWith({ sentinels: { ...sentinels, ...more } })
    return wishOf(policy(asked), node, { ...state, status: { ...state.status, ...status } }, 'slipway-system')
  }

  it.each<[string, Partial<NodeState['status']>]>([
    ['is the last thing that was done', { rollout }],
    ['was done before something else', { completed: [id] }],
  ])('is not asked for again: it %s', (_name, status) => {
    expect(again(status)).toBeUndefined()
    expect(again(status, { rebootRequired: late })).toBeDefined()
  })

  it.each([
    ['of an earlier boot asks for nothing, whoever booted the host', 'a', false],
    ['of this boot asks for a reboot', 'b', true],
  ])('is told by the boot it was first seen in: one %s', (_name, rebootAskedIn, asks) => {
    expect(again({}, { rebootAskedIn }) !== undefined).toBe(asks)
  })

  it('is asked for while it is under way', () => {
    expect(again({ rollout: { ...rollout, phase: 'Working' } })?.id).toBe(id)
  })
})
