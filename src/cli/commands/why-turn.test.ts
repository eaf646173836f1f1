// slipway why of nodes that an update selects: only those wait for their turn that have one.

import { describe, expect, it } from 'vitest'
import { cliFixture, node, nodeState, update } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { operationID } from '../../core/update/operation.ts'
import { isOvertaken } from '../why/turn.ts'

const operation = operationID(update())
const at = '2026-11-15T12:00:00Z'
const message = 'outside of the windows of MaintenancePolicy/default, which open at 22:00'
const shut: DirectUpdateStatus = {
  phase: 'InProgress',
  operationID: operation,
  startedAt: at,
  conditions: [
    { type: 'Planned', status: 'True', reason: 'Planned', message: '', lastTransitionTime: at },
    { type: 'Blocked', status: 'True', reason: 'OutsideWindow', message, lastTransitionTime: at },
  ],
}
const path = { current: 'v1.34.4', target: 'v1.36.3', steps: ['v1.35.4', 'v1.36.3'], step: 0, workers: [1] }
const earlier = 'to-1-36/1a2b3c4d-1-beef'

const cause = 'w3 failed, and maxFailures is 0'
const failed: DirectUpdateStatus = {
  ...{ phase: 'Failed', operationID: operation, startedAt: at, finishedAt: at },
  conditions: [
    { type: 'Planned', status: 'True', reason: 'Planned', message: '', lastTransitionTime: at },
    { type: 'Failed', status: 'True', reason: 'NodesFailed', message: cause, lastTransitionTime: at },
  ],
}
const refusedFor = 'cp1 runs v1.36.4, which is newer than v1.36.3'
const refused: DirectUpdateStatus = {
  ...failed,
  conditions: [
    { type: 'Planned', status: 'False', reason: 'Downgrade', message: refusedFor, lastTransitionTime: at },
    { type: 'Failed', status: 'True', reason: 'Downgrade', message: refusedFor, lastTransitionTime: at },
  ],
}

const laterOne = (
  name: string,
  spec: DirectUpdate['spec'],
  phase: NonNullable<DirectUpdateStatus['phase']> = 'Succeeded',
): DirectUpdate => {
  const { metadata } = update()
  const status = { phase, startedAt: '2026-11-15T13:00:00Z' }
  return { metadata: { ...metadata, name, uid: `uid-${name}` }, spec, status }
}

async function why(
  found: Node,
  state: NodeState,
  status: DirectUpdateStatus = shut,
  ...others: readonly DirectUpdate[]
): Promise<string> {
  const api = new FakeKubeApi()
    .put(nodes, found)
    .put(nodeStates, state)
    .put(directUpdates, update(status), ...others)
  const cli = cliFixture(api)
  expect({ code: await cli.run('why', found.metadata.name), err: cli.err.text }).toEqual({ code: 0, err: '' })
  return cli.out.text
}

const turn = `Node w1: w1 waits for its turn in update to-1-36: ${message}`

describe('a node waits for its turn', () => {
  it.each<[string, NodeState, DirectUpdateStatus?]>([
    ['that was not touched yet', nodeState('w1')],
    ['that is done for an earlier run of the same update', nodeState('w1', { phase: 'Done', operationID: earlier })],
    [
      'that is done for an earlier step of its path',
      nodeState('w1', { phase: 'Done', operationID: `${operation}.1` }),
      { ...shut, path: { ...path, step: 1 } },
    ],
    [
      'that is done for this step, and has another before it',
      nodeState('w1', { phase: 'Done', operationID: `${operation}.1` }),
      { ...shut, path },
    ],
  ])('%s', async (_, state, status) => {
    expect(await why(node('w1', { kubelet: 'v1.34.4' }), state, status)).toContain(turn)
  })
})

describe('a node whose turn did not come', () => {
  const lost = `Node w1: w1 waits for its turn in update to-1-36, which failed: ${cause}`

  it('in an update that failed: why says so, and how it goes on', async () => {
    const text = await why(node('w1'), nodeState('w1'), failed)
    expect(text).toContain(lost)
    expect(text).toContain('\n  NodesFailed: when it is put right: slipway retry to-1-36\n')
  })

  it('in one that was refused: why says what an edit must change', async () => {
    const text = await why(node('w1'), nodeState('w1'), refused)
    expect(text).toContain(`Node w1: w1 waits for its turn in update to-1-36, which failed: ${refusedFor}`)
    expect(text).not.toContain('slipway retry')
  })

  it('is told also when other work came after', async () => {
    expect(await why(node('w1'), nodeState('w1'), failed, laterOne('boot', { reboot: 'Always' }))).toContain(lost)
  })

  it.each(['Planned', 'Cancelled'] as const)('is told also when another update came to %s only', async (phase) => {
    const later = laterOne('again', { kubernetes: { version: 'v1.36.2' } }, phase)
    expect(await why(node('w1'), nodeState('w1'), failed, later)).toContain(lost)
  })

  it.each<[string, Partial<DirectUpdate['spec']>]>([
    ['selects others', { nodeSelector: { matchLabels: { pool: 'b' } } }],
    ['leaves it out', { skip: ['w1'] }],
  ])('is told also when another update brought the same and %s', async (_, part) => {
    const later = laterOne('again', { kubernetes: { version: 'v1.36.3' }, ...part })
    expect(await why(node('w1'), nodeState('w1'), failed, later)).toContain(lost)
  })

  it.each([
    ['b'.repeat(64), true],
    ['a'.repeat(64), false],
  ])('with a script, and another script came after (%s): %s', async (sha256, waits) => {
    const script = (hash: string) => ({ script: { configMap: 'fix', sha256: hash } })
    const first = { ...update(failed), spec: script('a'.repeat(64)) }
    expect(isOvertaken(first, [laterOne('again', script(sha256))])).toBe(!waits)
  })

  const image = (tag: string, more: object = {}) => ({ os: { image: `registry.example/os:${tag}`, ...more } })
  const binary = (version: string, path = '/usr/local/bin/k3s') => ({
    binary: { name: 'k3s', url: `https://example.com/${version}`, sha256: 'a'.repeat(64), path },
  })
  it.each<[string, DirectUpdate['spec'], DirectUpdate['spec'], boolean]>([
    ['an image', image('41'), image('42'), false],
    ['an image with all packages', image('41', { packages: 'All' }), image('42'), true],
    ['a program', binary('v1'), binary('v2'), false],
    ['a program, and another one', binary('v1'), binary('v2', '/usr/local/bin/k0s'), true],
  ])('with %s, and a later one came after', (_, first, later, waits) => {
    expect(isOvertaken({ ...update(failed), spec: first }, [laterOne('again', later)])).toBe(!waits)
  })

  it('has had it in another update since', async () => {
    const text = await why(
      node('w1'),
      nodeState('w1'),
      failed,
      laterOne('again', { kubernetes: { version: 'v1.36.2' } }),
    )
    expect(text).toBe('Node w1: nothing waits: no update concerns w1, and it is Ready and schedulable\n')
  })
})

describe('a node waits for no turn', () => {
  it('that has the version already, or joined later, though the update failed', async () => {
    const nothing = 'Node w1: nothing waits: '
    expect(await why(node('w1', { kubelet: 'v1.36.3' }), nodeState('w1'), failed)).toContain(nothing)
    const since = { ...failed, startedAt: '2026-11-15T11:00:00Z' }
    expect(await why(node('w1'), nodeState('w1'), since)).toContain(nothing)
  })

  it('that is done, though a profile came after', async () => {
    const state = nodeState('w1', {
      phase: 'Done',
      kind: 'NodeProfile',
      update: 'base',
      operationID: 'profile:base/1-1',
    })
    const completed = [operation, 'profile:base/1-1']
    const text = await why(node('w1'), { ...state, status: { ...state.status, completed } })
    expect(text).not.toContain('waits for its turn')
  })

  it('that has the version already', async () => {
    expect(await why(node('w1', { kubelet: 'v1.36.3' }), nodeState('w1'))).not.toContain('waits for its turn')
  })

  it('that joined when the update had begun, and why says so', async () => {
    const text = await why(node('w1'), nodeState('w1'), { ...shut, startedAt: '2026-11-15T11:00:00Z' })
    expect(text).toContain('Node w1: w1 joined after update to-1-36 had begun, and is none of its nodes')
  })
})
