import { describe, expect, it } from 'vitest'
import { cliFixture, node, nodeState, operation, update, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import { namedAtMost } from '../../api/console.ts'
import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { type NodeProfile, type NodeProfileSpec, type NodeProfileStatus, nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { Retry } from '../../api/steering.ts'

const running: DirectUpdateStatus = { phase: 'InProgress', operationID: operation }
const wave = { index: 0, of: 3, size: 1, since: '2026-11-15T12:00:00Z' }
const wanted = { ...running, wave: { ...wave, promotion: 'Wanted' as const } }
const failed: DirectUpdateStatus = {
  ...{ phase: 'Failed', operationID: operation },
  summary: { total: 3, done: 1, working: 0, waiting: 1, failed: 1, skipped: 0 },
  nodes: [{ name: 'w1', phase: 'Failed' }],
}

async function say(argv: readonly string[], status: DirectUpdateStatus, spec: Partial<DirectUpdate['spec']> = {}) {
  const api = new FakeKubeApi()
    .put(nodes, ...['w1', 'w2', 'w3'].map((name) => node(name)))
    .put(directUpdates, update(status, { kubernetes: { version: 'v1.36.3' }, ...spec }))
  const cli = cliFixture(api)
  const code = await cli.run(...argv)
  const { spec: written } = await api.get(directUpdates, { name: 'to-1-36' }, new AbortController().signal)
  return { code, said: cli.out.text + cli.err.text, written }
}

const hook = { hook: 'start', when: 'BeforeUpdate', timeout: '5m', http: { url: 'http://hooks.example' } } as const
const refusedByHook: DirectUpdateStatus = {
  ...{ phase: 'RequiresAttention', operationID: operation },
  hooks: [{ ...hook, operationID: operation, state: 'Failed', since: '2026-11-15T12:00:00Z' }],
}

const since = { lastTransitionTime: '2026-11-15T12:00:00Z', message: 'failed 3 times (on cp1)' }
const withoutBackup: DirectUpdateStatus = {
  ...{ phase: 'RequiresAttention', operationID: operation },
  conditions: [{ type: 'Blocked', status: 'True', reason: 'BackupFailed', ...since }],
}

describe('a word to an update', () => {
  it.each<[readonly string[], DirectUpdateStatus, Partial<DirectUpdate['spec']>, object, string]>([
    [['pause', 'to-1-36'], running, {}, { desiredState: 'Paused' }, 'paused; what is under work is finished'],
    [['resume', 'to-1-36'], running, { desiredState: 'Paused' }, { desiredState: 'Running' }, 'goes on'],
    [
      ['cancel', 'to-1-36'],
      running,
      {},
      { desiredState: 'Cancelled', onCancel: 'Finish' },
      'cancelled; nodes that have begun',
    ],
    [['cancel', 'to-1-36', '--put-back'], running, {}, { onCancel: 'PutBack' }, 'put back where that is possible'],
    [
      ['retry', 'to-1-36'],
      failed,
      {},
      { retry: { token: 'abcde123' } },
      'w1 tried again; follow it: slipway status to-1-36 -w',
    ],
    [['retry', 'to-1-36', 'w1'], failed, {}, { retry: { token: 'abcde123', nodes: ['w1'] } }, 'w1 tried again'],
    [
      ['retry', 'to-1-36'],
      failed,
      { retry: { token: '1', nodes: ['w9'] } },
      { retry: { token: 'abcde123' } },
      'w1 tried',
    ],
    [
      ['retry', 'to-1-36'],
      failed,
      { skip: ['w1'] },
      { retry: { token: 'abcde123' } },
      'is tried again; left out unless named: slipway retry to-1-36 w1',
    ],
    [['retry', 'to-1-36'], refusedByHook, {}, { retry: { token: 'abcde123' } }, 'hook start tried again'],
    [['retry', 'to-1-36'], withoutBackup, {}, { retry: { token: 'abcde123' } }, 'the backup tried again'],
    [['skip', 'to-1-36', 'w2', 'w3'], running, { skip: ['w2'] }, { skip: ['w2', 'w3'] }, 'leaves out w2, w3'],
    [['skip', 'to-1-36', 'w1'], failed, {}, { skip: ['w1'] }, 'let the others go on: slipway retry to-1-36'],
    [
      ['approve', 'to-1-36'],
      wanted,
      {},
      { approvals: [{ operationID: operation, wave: 0, by: 'ana', at: '2026-11-15T12:05:00.000Z' }] },
      'wave 1 of 3 approved by ana; the next begins',
    ],
    [
      ['run-now', 'to-1-36', '--reason', 'CVE-2026-1234'],
      running,
      {},
      { runNow: { operationID: operation, reason: 'CVE-2026-1234', by: 'ana', at: '2026-11-15T12:05:00.000Z' } },
      'goes on at any time, for ana: CVE-2026-1234',
    ],
  ])('%s', async (argv, status, spec, expected, words) => {
    const { code, said, written } = await say(argv, status, spec)
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining(words) })
    expect(written).toMatchObject(expected)
    if (argv.length === 2 && argv[0] === 'retry') expect(written.retry?.nodes).toBeUndefined()
  })

  it.each<[readonly string[], DirectUpdateStatus, Partial<DirectUpdate['spec']>, number, RegExp]>([
    [['pause', 'to-1-36'], { phase: 'Succeeded' }, {}, 3, /to-1-36 is Succeeded: there is nothing to pause/],
    [['resume', 'to-1-36'], running, {}, 3, /to-1-36 is not paused/],
    [['resume', 'to-1-36'], running, { desiredState: 'Cancelled' }, 3, /is being cancelled/],
    [['pause', 'to-1-36'], running, { desiredState: 'Cancelled' }, 3, /is being cancelled/],
    [['run-now', 'to-1-36', '--reason', 'x'], running, { desiredState: 'Cancelled' }, 3, /is being cancelled/],
    [['skip', 'to-1-36', 'w1'], { phase: 'Succeeded' }, {}, 3, /is Succeeded: there is nothing to leave out/],
    [['cancel', 'to-1-36'], failed, {}, 3, /nothing to cancel/],
    [['retry', 'to-1-36'], running, {}, 3, /no node of to-1-36 failed or needs a person/],
    [['retry', 'to-1-36', 'w1'], refusedByHook, {}, 3, /no node of to-1-36 failed or needs a person/],
    [['retry', 'to-1-36', 'w11'], failed, {}, 3, /w11 did not fail for to-1-36.*\nnext: .*slipway retry to-1-36 w1\n/],
    [['retry', 'to-1-36', 'w1'], { ...failed, nodes: [] }, {}, 3, /w1 did not fail.*\nnext: .*slipway retry to-1-36\n/],
    [['approve', 'to-1-36'], { ...running, wave }, {}, 3, /waits for no approval: wave 1 of 3 is not done/],
    [['approve', 'to-1-36'], running, {}, 3, /it has not come to its waves/],
    [['pause', 'other'], running, {}, 2, /there is no DirectUpdate named other/],
    [['skip', 'to-1-36'], running, {}, 2, /missing required argument/],
    [['skip', 'to-1-36', 'w2', 'w33'], running, {}, 2, /there is no Node named w33/],
    [['skip', 'to-1-36', 'W 1'], running, {}, 2, /must be the name of a node/],
  ])('%s is refused', async (argv, status, spec, code, words) => {
    const result = await say(argv, status, spec)
    expect({ code: result.code, said: result.said }).toEqual({ code, said: expect.stringMatching(words) })
    expect(result.said).toMatch(/next: /)
  })
})

describe('a word for some nodes after another one', () => {
  const three = { ...failed, nodes: ['w1', 'w2', 'w3'].map((name) => ({ name, phase: 'Failed' as const })) }
  const states = [
    nodeState('w1', { phase: 'Failed' }),
    nodeState('w2', { phase: 'Failed' }),
    nodeState('w3', { phase: 'Failed', retried: '1' }),
  ]

  async function retried(before: Retry, status: DirectUpdateStatus, mayRead: boolean, skip: readonly string[] = []) {
    const spec = { kubernetes: { version: 'v1.36.3' }, retry: before, skip: [...skip] }
    const api = new FakeKubeApi().put(directUpdates, update(status, spec)).put(nodeStates, ...states)
    api.before = (verb, type) => {
      if (verb === 'list' && type === nodeStates && !mayRead) throw new KubeError('Forbidden', 'no', { status: 403 })
    }
    const cli = cliFixture(api)
    const code = await cli.run('retry', 'to-1-36', 'w2')
    const { spec: written } = api.found(directUpdates, { name: 'to-1-36' })
    return { code, said: cli.out.text + cli.err.text, named: written.retry?.nodes }
  }

  it.each<[string, Retry, boolean, readonly string[], readonly string[]]>([
    ['those not tried since', { token: '1', nodes: ['w1', 'w3'] }, true, [], ['w2', 'w1']],
    ['all that it names, where nobody may tell', { token: '1', nodes: ['w1', 'w3'] }, false, [], ['w2', 'w1', 'w3']],
    ['all not tried since', { token: '1' }, true, [], ['w2', 'w1']],
    ['none that was left out', { token: '1' }, true, ['w1'], ['w2']],
  ])('keeps of it %s', async (_what, before, mayRead, skip, named) => {
    const answer = await retried(before, three, mayRead, skip)
    expect(answer).toMatchObject({ code: 0, named })
    const others = named.slice(1).join(', ')
    expect(answer.said.includes(`w2 tried again; still to be tried by the word before: ${others};`)).toBe(others !== '')
  })

  it('leaves out whom it names, where nobody may tell whether they were tried since, and says so', async () => {
    const answer = await retried({ token: '1', nodes: ['w1', 'w2', 'w3'] }, { ...three, retried: '1' }, false)
    expect(answer).toMatchObject({ code: 0, named: ['w2'] })
    expect(answer.said).toContain('w2 tried again; left out of the word before: w1, w3 (you may not read whether')
  })

  it.each<[string, DirectUpdateStatus, boolean, RegExp]>([
    [
      'a hook',
      { ...three, hooks: refusedByHook.hooks },
      true,
      /hook start is still to be tried.*\nnext: try all again/,
    ],
    [
      'the backup',
      { ...three, conditions: withoutBackup.conditions },
      true,
      /the backup is still to be tried.*\nnext: try all again: slipway retry to-1-36/,
    ],
    ['nodes nobody may read', three, false, /you may not read whom it has not reached.*\nnext: try all again/],
  ])('does not take back what was said of %s', async (_what, status, mayRead, words) => {
    const { code, said, named } = await retried({ token: '1' }, status, mayRead)
    expect({ code, said, named }).toEqual({ code: 3, said: expect.stringMatching(words), named: undefined })
  })
})

describe('status', () => {
  const spec = { kubernetes: { version: 'v1.36.3' } }
  it.each<[DirectUpdateStatus, DirectUpdate['spec'], number, string]>([
    [{ ...running, wave }, spec, 0, 'Course:     wave 1 of 3, 1 worker in all\n'],
    [
      { ...running, wave: { ...wave, soakUntil: '2026-11-15T12:30:00Z' } },
      spec,
      0,
      'Course:     wave 1 of 3, 1 worker in all: done; looked at until 2026-11-15T12:30:00Z\n',
    ],
    [wanted, spec, 3, 'Course:     wave 1 of 3, 1 worker in all: done; look at them, then: slipway approve to-1-36\n'],
    [
      { ...running, phase: 'Paused' },
      { ...spec, desiredState: 'Paused' },
      3,
      'Course:     paused; go on with: slipway resume to-1-36\n',
    ],
    [running, { ...spec, desiredState: 'Cancelled' }, 0, 'Course:     being cancelled\n'],
    [{ ...running, phase: 'Cancelled' }, { ...spec, desiredState: 'Cancelled' }, 1, 'Phase:      Cancelled\n'],
  ])('shows where it is and what it waits for: %o', async (status, given, code, line) => {
    const cli = cliFixture(upgradeMidway().put(directUpdates, update(status, given)))
    expect(await cli.run('status', 'to-1-36')).toBe(code)
    expect(cli.out.text).toContain(line)
  })
})

describe('retry of a profile', () => {
  const failing = { phase: 'Failed', nodes: { total: 3, applied: 1, drifted: 0, failed: 1 } } as const
  const of = (status: NodeProfileStatus, spec: Partial<NodeProfileSpec> = {}) => ({
    ...nodeProfile('base', { sysctls: { 'vm.swappiness': '10' }, ...spec }),
    status,
  })

  async function sayTo(profile: NodeProfile, ...argv: readonly string[]) {
    const api = new FakeKubeApi().put(nodeProfiles, profile).put(nodes, node('w1'), node('w2'))
    const cli = cliFixture(api)
    const code = await cli.run('retry', ...argv)
    const { spec } = await api.get(nodeProfiles, { name: 'base' }, new AbortController().signal)
    return { code, said: cli.out.text + cli.err.text, retry: spec.retry }
  }

  it('asks for all that failed', async () => {
    const before = { retry: { token: '1', nodes: ['w9'] } }
    expect(await sayTo(of(failing, before), '--profile', 'base')).toEqual({
      code: 0,
      said: 'base: the node that failed is tried again; follow it: slipway status\n',
      retry: { token: 'abcde123' },
    })
  })

  it('or for those named', async () => {
    const { code, said, retry } = await sayTo(of(failing), '--profile', 'base', 'w1', 'w2')
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('w1, w2 tried again') })
    expect(retry).toEqual({ token: 'abcde123', nodes: ['w1', 'w2'] })
  })

  it('keeps those that the word before named and nobody tried since', async () => {
    const failedFor = { update: 'base', operationID: 'profile:base/r1-1', phase: 'Failed' as const }
    const before = { retry: { token: '1', nodes: ['w1', 'w2'] } }
    const api = new FakeKubeApi()
      .put(nodeProfiles, of(failing, before))
      .put(nodes, node('w3'))
      .put(nodeStates, nodeState('w1', failedFor), nodeState('w2', { ...failedFor, retried: '1' }))
    const cli = cliFixture(api)
    expect(await cli.run('retry', '--profile', 'base', 'w3')).toBe(0)
    expect(api.found(nodeProfiles, { name: 'base' }).spec.retry?.nodes).toEqual(['w3', 'w1'])
    expect(cli.out.text).toContain('w3 tried again; still to be tried by the word before: w1;')
  })

  it('leaves those out that failed only for what it wanted before', async () => {
    const was = { operationID: 'profile:base/r1-1', phase: 'Failed' as const, attempt: 1 }
    const is = { update: 'base', operationID: 'profile:base:drain/r2-1', phase: 'Failed' as const }
    const past = Array.from({ length: namedAtMost }, (_, index) => {
      const state = nodeState(`n${index}`, { ...is, phase: 'Done' })
      return { ...state, status: { ...state.status, failed: [was] } }
    })
    const before = { retry: { token: '1' } }
    const api = new FakeKubeApi()
      .put(nodeProfiles, of({ ...failing, operationID: is.operationID }, before))
      .put(nodes, node('w3'))
      .put(nodeStates, nodeState('w1', is), nodeState('w2', { ...was, update: 'base' }), ...past)
    const cli = cliFixture(api)
    expect(await cli.run('retry', '--profile', 'base', 'w3')).toBe(0)
    expect(api.found(nodeProfiles, { name: 'base' }).spec.retry?.nodes).toEqual(['w3', 'w1'])
    expect(cli.out.text).toContain('w3 tried again; still to be tried by the word before: w1;')
  })

  it('keeps none of them where nobody may tell whether they were tried since', async () => {
    const api = new FakeKubeApi()
      .put(nodeProfiles, of(failing, { retry: { token: '1', nodes: ['w1'] } }))
      .put(nodes, node('w3'))
    api.before = (verb, type) => {
      if (verb === 'list' && type === nodeStates) throw new KubeError('Forbidden', 'no', { status: 403 })
    }
    const cli = cliFixture(api)
    expect(await cli.run('retry', '--profile', 'base', 'w3')).toBe(0)
    expect(api.found(nodeProfiles, { name: 'base' }).spec.retry?.nodes).toEqual(['w3'])
    expect(cli.out.text).toContain('w3 tried again; left out of the word before: w1 (')
  })

  it('is refused for a node that is not there', async () => {
    const { code, said, retry } = await sayTo(of(failing), '--profile', 'base', 'w33')
    expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining('there is no Node named w33') })
    expect(retry).toBeUndefined()
  })

  it('is hinted at where --profile was forgotten', async () => {
    const { code, said } = await sayTo(of(failing), 'base')
    expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining('slipway retry --profile base tries') })
  })

  it('is refused where nothing failed', async () => {
    const fine = { phase: 'Applied', nodes: { total: 3, applied: 3, drifted: 0, failed: 0 } } as const
    const { code, said, retry } = await sayTo(of(fine), 'base', '--profile')
    expect({ code, said }).toEqual({ code: 3, said: expect.stringContaining('no node failed for NodeProfile base') })
    expect(retry).toBeUndefined()
  })
})
