import { describe, expect, it } from 'vitest'
import type { Job, Node, Pod } from '../../api/kube.ts'
import { invalidGate } from './check-gates.ts'
import { decideGate } from './decide-gate.ts'
import { gatesOf, type Look } from './gate.ts'
import { judgeJob, judgeNodes, judgePods } from './judge-objects.ts'

const [gate] = gatesOf([{ name: 'shop', type: 'Http', url: 'http://shop', timeout: '5m', every: '10s' }])

describe('a gate', () => {
  it.each<[Look, number, string]>([
    [{ state: 'holds' }, 400_000, 'passed'],
    [{ state: 'fails', message: 'no' }, 299_999, 'waiting'],
    [{ state: 'unknown', message: 'no' }, 299_999, 'waiting'],
    [{ state: 'fails', message: 'no' }, 300_000, 'failed'],
    [{ state: 'unknown', message: 'no' }, 300_000, 'failed'],
    [{ state: 'unseen', message: 'no' }, 299_999, 'unseen'],
    [{ state: 'unseen', message: 'no' }, 300_000, 'failed'],
    [{ state: 'broken', message: 'no' }, 0, 'failed'],
  ])('%j after %d ms: %s', (look, nowMs, state) => {
    if (!gate) throw new Error('no gate')
    const verdict = decideGate(gate, look, nowMs, 300_000)
    expect(verdict.state).toBe(state)
    if (verdict.state !== 'passed') expect(verdict.reason.message).toContain('gate shop: no')
  })

  it('has a name, a point and times where none are given', () => {
    const gates = gatesOf([{ type: 'NodeReady' }], [{ type: 'NodeReady' }, { type: 'Job', cronJob: 'smoke' }])
    expect(gates.map(({ name, when }) => `${name} ${when}`)).toEqual([
      'NodeReady BeforeNode',
      'NodeReady-2 BeforeNode',
      'Job AfterNode',
    ])
    expect(gates[0]).toMatchObject({ timeoutMs: 300_000, everyMs: 10_000 })
  })

  it('that is broken is named before anything starts', () => {
    expect(invalidGate([{ type: 'Cel', expression: 'object.ok' }], undefined)).toBeUndefined()
    expect(invalidGate([{ name: 'ceph', type: 'Cel', expression: 'object.' }])).toMatchObject({ code: 'GateInvalid' })
  })
})

const metadata = (name: string) => ({ name, namespace: 'shop', uid: name, resourceVersion: '1', creationTimestamp: '' })
const node = (name: string, status: 'True' | 'False'): Node => ({
  metadata: metadata(name),
  spec: {},
  status: { conditions: [{ type: 'Ready', status }] },
})
const pod = (name: string, ready: boolean, phase: 'Running' | 'Succeeded' = 'Running'): Pod => ({
  metadata: metadata(name),
  spec: { containers: [] },
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

describe('objects', () => {
  it('nodes we work on do not count', () => {
    const all = [node('w1', 'True'), node('w2', 'False')]
    expect(judgeNodes(all, (name) => name === 'w2')).toEqual({ state: 'holds' })
    expect(judgeNodes(all, () => false)).toEqual({ state: 'fails', message: 'w2 is not Ready' })
    expect(judgeNodes([], () => false)).toEqual({ state: 'unknown', message: 'the selector matches no node' })
  })

  it.each([
    [[pod('a', true)], 1, 'holds'],
    [[pod('a', true), pod('b', false)], 1, 'fails'],
    [[pod('a', true), pod('b', false, 'Succeeded')], 1, 'holds'],
    [[], 1, 'fails'],
    [[], 0, 'holds'],
  ])('pods: %#', (pods, atLeast, state) => {
    expect(judgePods(pods, atLeast).state).toBe(state)
  })

  it.each([
    [[], undefined],
    [[{ type: 'Complete', status: 'True' as const }], 'holds'],
    [[{ type: 'Failed', status: 'True' as const, reason: 'DeadlineExceeded' }], 'broken'],
    [[{ type: 'Suspended', status: 'True' as const }], undefined],
  ])('a Job: %#', (conditions, state) => {
    const job: Job = {
      metadata: metadata('j'),
      spec: { template: { spec: { containers: [] } } },
      status: { conditions },
    }
    expect(judgeJob(job)?.state).toBe(state)
  })
})
