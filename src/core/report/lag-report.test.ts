import { describe, expect, it } from 'vitest'
import { agentOf, node, nodeState, update } from '../../../test/cli/cli-fixture.ts'
import type { NodeState } from '../../api/node-state.ts'
import { type LagView, lagReport, type NodeLag } from './lag-report.ts'

const now = new Date('2026-11-20T12:00:00Z')
const asked = '2026-11-15T12:00:00Z'

function report(changes: Partial<LagView>, states: readonly NodeState[] = []) {
  const byName = new Map(states.map((state) => [state.metadata.name, state]))
  return lagReport({ now, nodes: [], stateOf: (name) => byName.get(name), updates: [], ...changes })
}

function only(lags: readonly NodeLag[]): NodeLag {
  const [first] = lags
  if (!first || lags.length !== 1) throw new Error(`${lags.length} nodes`)
  return first
}

const state = (changes: Partial<ReturnType<typeof agentOf>> = {}, rollout?: Parameters<typeof nodeState>[1]) =>
  nodeState('w1', rollout, { ...agentOf(), ...changes })

describe('what a node is held against', () => {
  it('is the version asked for', () => {
    const { target, nodes } = report({ target: '1.35.4', nodes: [node('w1')] }, [state()])
    expect(target).toEqual({ version: 'v1.35.4', source: 'Asked' })
    expect(only(nodes).verdict).toBe('UpToDate')
  })

  it('is else the newest release on offer anywhere, pre-releases apart', () => {
    const facts = { ...agentOf().facts, versionsOnOffer: ['v1.35.9', 'v1.36.0-rc.1'] }
    const { target, nodes } = report({ nodes: [node('w1')] }, [state({ facts })])
    expect(target).toEqual({ version: 'v1.35.9', source: 'NewestOnOffer' })
    expect(only(nodes)).toMatchObject({ verdict: 'Lagging', lags: [{ what: 'Kubernetes' }] })
  })

  it('is unknown where no host says what is on offer, and so is the node', () => {
    const { target, nodes } = report({ nodes: [node('w1')] })
    expect(target).toBeUndefined()
    expect(only(nodes).verdict).toBe('Unknown')
  })
})

describe('since when', () => {
  it('is when an update first asked for that version on that node', () => {
    const later = { ...update(), metadata: { ...update().metadata, creationTimestamp: '2026-11-18T00:00:00Z' } }
    const elsewhere = { ...update(), spec: { ...update().spec, skip: ['w1'] } }
    expect(
      only(report({ target: 'v1.36.3', nodes: [node('w1')], updates: [later, update()] }, [state()]).nodes).since,
    ).toBe(asked)
    expect(
      only(report({ target: 'v1.36.3', nodes: [node('w1')], updates: [elsewhere] }, [state()]).nodes).since,
    ).toBeUndefined()
  })

  it('of a reboot is when its file was first seen, and unknown where only the system says so', () => {
    const facts = { ...agentOf().facts, rebootRequired: 'linux-image' }
    const sentinels = { rebootRequired: '2026-11-16T00:00:00Z' }
    const target = 'v1.35.4'
    const seen = only(report({ target, nodes: [node('w1')] }, [state({ facts, sentinels })]).nodes)
    expect(seen).toMatchObject({ verdict: 'Lagging', since: '2026-11-16T00:00:00Z', lags: [{ detail: 'linux-image' }] })
    const unseen = only(report({ target, nodes: [node('w1')] }, [state({ facts })]).nodes)
    expect(unseen.lags).toEqual([{ what: 'Reboot', detail: 'linux-image' }])
    expect(unseen.since).toBeUndefined()
  })
})

describe('against a date', () => {
  const by = new Date('2026-11-18T00:00:00Z')
  const done = (finishedAt: string) => state({}, { phase: 'Done', finishedAt })

  it.each([
    { what: 'lags after it', target: 'v1.36.3', states: [state()], patchedBy: by, is: 'Overdue' },
    { what: 'lags before it', target: 'v1.36.3', states: [state()], patchedBy: new Date('2026-12-01'), is: 'Due' },
    {
      what: 'was updated before it',
      target: 'v1.35.4',
      states: [done('2026-11-17T00:00:00Z')],
      patchedBy: by,
      is: 'Met',
    },
    {
      what: 'was updated after it',
      target: 'v1.35.4',
      states: [done('2026-11-19T00:00:00Z')],
      patchedBy: by,
      is: 'Late',
    },
    {
      what: 'is up to date, nobody knows since when',
      target: 'v1.35.4',
      states: [state()],
      patchedBy: by,
      is: 'Unknown',
    },
    {
      what: 'is up to date in time',
      target: 'v1.35.4',
      states: [state()],
      patchedBy: new Date('2026-12-01'),
      is: 'Met',
    },
    { what: 'says nothing', target: 'v1.35.4', states: [], patchedBy: by, is: 'Unknown' },
  ])('a node that $what is $is', ({ target, states, patchedBy, is }) => {
    expect(only(report({ target, patchedBy, nodes: [node('w1')] }, states).nodes).patchedBy).toBe(is)
  })

  const run = (operationID: string, version: string | undefined, startedAt: string, finishedAt: string) => {
    const made = update(
      { operationID, startedAt, finishedAt },
      version === undefined ? {} : { kubernetes: { version } },
    )
    return { ...made, metadata: { ...made.metadata, name: 'before' } }
  }
  const then = ['2026-11-16T00:00:00Z', '2026-11-16T01:00:00Z'] as const

  const afterwards = (completed: string, updates: readonly ReturnType<typeof update>[]) => {
    const { status, ...rest } = done('2026-11-19T00:00:00Z')
    const its = { ...rest, status: { ...status, completed: [completed] } }
    return only(report({ target: 'v1.35.4', patchedBy: by, nodes: [node('w1')], updates }, [its]).nodes).patchedBy
  }

  it.each<[string, readonly ReturnType<typeof update>[], string]>([
    ['that nobody remembers', [], 'Unknown'],
    ['that brought the version in time', [run('before/1', 'v1.35.4', ...then)], 'Met'],
    ['that ended after it', [run('before/1', 'v1.35.4', then[0], '2026-11-19T00:00:00Z')], 'Unknown'],
    ['that began after it', [run('before/1', 'v1.35.4', '2026-11-18T12:00:00Z', '2026-11-18T13:00:00Z')], 'Late'],
    ['that brought an older version', [run('before/1', 'v1.34.9', ...then)], 'Late'],
    ['that brought other things', [run('before/1', undefined, ...then)], 'Late'],
  ])('a node that was updated after it, and earlier by one %s', (_what, updates, is) => {
    expect(afterwards('before/1', updates)).toBe(is)
  })

  it.each(['profile:base/1', 'maintenance:w1/1'])('goes by no %s, which brings no version', (id) => {
    expect(afterwards(id, [])).toBe('Late')
  })

  it('goes by what was done before a profile had the node', () => {
    const { status, ...rest } = state({}, { kind: 'NodeProfile', phase: 'Done', finishedAt: '2026-11-19T00:00:00Z' })
    const its = { ...rest, status: { ...status, completed: ['before/1'] } }
    const updates = [run('before/1', 'v1.35.4', ...then)]
    expect(
      only(report({ target: 'v1.35.4', patchedBy: by, nodes: [node('w1')], updates }, [its]).nodes).patchedBy,
    ).toBe('Met')
  })

  it.each([
    ['before/1.1', 'Late'],
    ['before/1.2', 'Unknown'],
  ])('a node that was updated after it, and began its path of versions before, by %s, is %s', (id, is) => {
    const path = { current: 'v1.33.1', target: 'v1.35.4', steps: ['v1.34.9', 'v1.35.4'] }
    expect(afterwards(id, [update({ operationID: 'before/1', startedAt: then[0], path })])).toBe(is)
  })

  it('counts those that missed it, and puts the worst first', () => {
    const nodes = [node('w10', { kubelet: 'v1.36.3' }), node('w2'), node('w1')]
    const states = ['w1', 'w2', 'w10'].map((name) => nodeState(name))
    const { summary, nodes: lags } = report({ target: 'v1.36.3', patchedBy: by, nodes }, states)
    expect(summary).toEqual({ total: 3, upToDate: 1, lagging: 2, unknown: 0, missed: 2 })
    expect(lags.map((lag) => lag.node)).toEqual(['w1', 'w2', 'w10'])
  })
})
