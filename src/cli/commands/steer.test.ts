import { describe, expect, it } from 'vitest'
import { cliFixture, node, operation, update, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { type NodeProfile, type NodeProfileSpec, type NodeProfileStatus, nodeProfiles } from '../../api/node-profile.ts'

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
