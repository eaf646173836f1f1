import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, node, nodeState } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { nodes } from '../../api/kube.ts'
import { type AgentStatus, logQuestionSchema, logsAnnotation, nodeStates } from '../../api/node-state.ts'

const order: NonNullable<AgentStatus['order']> = {
  id: 'op-2',
  state: 'Failed',
  steps: [
    { name: 'job-upgrade', state: 'Succeeded', attempts: 1, logTail: 'done\n' },
    { name: 'job-check', state: 'Failed', attempts: 1, logTail: 'unit x failed' },
  ],
}

function cluster(): FakeKubeApi {
  return new FakeKubeApi()
    .put(nodeStates, nodeState('w1', undefined, agentOf(order)), nodeState('w2'))
    .put(nodes, node('w3'))
}

const asked = (api: FakeKubeApi) => api.find(nodeStates, { name: 'w1' })?.metadata.annotations?.[logsAnnotation]

/** Operator and agent in one: answers the annotation. */
async function answering(api: FakeKubeApi, logs: (request: string) => NonNullable<AgentStatus['logs']>) {
  for (;;) {
    await new Promise(setImmediate)
    const state = api.find(nodeStates, { name: 'w1' })
    const text = asked(api)
    if (!state || text === undefined) continue
    const question = logQuestionSchema.parse(JSON.parse(text))
    api.put(nodeStates, { ...state, status: { agent: { ...agentOf(order), logs: logs(question.request) } } })
    return question
  }
}

describe('slipway logs', () => {
  it('shows the ends that stand in the status, under their names', async () => {
    const cli = cliFixture(cluster())
    expect(await cli.run('logs', 'w1')).toBe(0)
    expect(cli.out.text).toBe('==> job-upgrade (Succeeded) <==\ndone\n==> job-check (Failed) <==\nunit x failed\n')
  })

  it('shows one step alone', async () => {
    const cli = cliFixture(cluster())
    expect(await cli.run('logs', 'w1', '--step', 'job-check')).toBe(0)
    expect(cli.out.text).toBe('unit x failed\n')
  })

  it.each([
    { argv: ['w1', '--step', 'reboot'], says: 'it has job-upgrade, job-check' },
    { argv: ['w2'], says: 'no order has been carried out on w2' },
    { argv: ['w3'], says: 'no agent has reported from w3 [NotFound]\nnext: see what is missing there: slipway why w3' },
    { argv: ['w9'], says: 'there is no Node named w9' },
  ])('says what is wrong: $argv', async ({ argv, says }) => {
    const cli = cliFixture(cluster())
    expect(await cli.run('logs', ...argv)).toBe(2)
    expect(cli.err.text).toContain(says)
  })

  it('fetches the whole one through the operator', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const gzip = await gzipCompression.pack('all of it\n')
    const ended = cli.run('logs', 'w1', '--full', '--step', 'job-check', '--bytes', '1000')
    const question = await answering(api, (request) => ({ request, bytes: 10, gzip }))
    expect(question).toMatchObject({ step: 'job-check', bytes: 1000 })
    expect(await ended).toBe(0)
    expect(cli.out.text).toBe('all of it\n')
  })

  it('asks again where somebody else’s question took the place of its own, once that one is answered', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const [gzip, theirs] = await Promise.all([gzipCompression.pack('all of it\n'), gzipCompression.pack('theirs\n')])
    const ended = cli.run('logs', 'w1', '--full')
    await expect.poll(() => asked(api)).toBeDefined()
    const other = { request: 'theirs', bytes: 10 }
    const { metadata, ...state } = api.found(nodeStates, { name: 'w1' })
    const annotated = { ...metadata, annotations: { [logsAnnotation]: JSON.stringify(other) } }
    const { annotations: _, ...plain } = annotated
    api.put(nodeStates, { ...state, metadata: annotated })
    await cli.clock.advance(50_000)
    api.put(nodeStates, { ...state, metadata: plain, spec: { logs: other } })
    await cli.clock.advance(5_000)
    expect(asked(api)).toBeUndefined()
    const logs = { request: 'theirs', bytes: 10, gzip: theirs }
    api.put(nodeStates, {
      ...state,
      metadata: plain,
      spec: { logs: other },
      status: { agent: { ...agentOf(order), logs } },
    })
    await cli.clock.advance(1000)
    expect(asked(api)).toBeDefined()
    await cli.clock.advance(50_000)
    await answering(api, (request) => ({ request, bytes: 10, gzip }))
    expect(await ended).toBe(0)
    expect(cli.out.text).toBe('all of it\n')
  })

  it('says why the host has it not', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const ended = cli.run('logs', 'w1', '--order', 'op-1')
    const reason = { code: 'LogMissing', message: 'no order op-1 is known here' } as const
    expect(await answering(api, (request) => ({ request, bytes: 0, gzip: '', reason }))).toMatchObject({
      order: 'op-1',
    })
    expect(await ended).toBe(2)
    expect(cli.err.text).toContain('no order op-1 is known here')
  })

  it('gives up after a minute without an answer', async () => {
    const cli = cliFixture(cluster())
    const ended = cli.run('logs', 'w1', '--full')
    for (let n = 0; n < 20; n++) await new Promise(setImmediate)
    await cli.clock.advance(61_000)
    expect(await ended).toBe(3)
    expect(cli.err.text).toContain('no answer from w1')
  })
})
