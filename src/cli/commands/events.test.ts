import { describe, expect, it, vi } from 'vitest'
import { cliFixture, node } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { events, nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'

const event = (name: string, about: string, second: number, changes: object = {}) => ({
  metadata: { name, namespace: 'default' },
  eventTime: `2026-11-15T12:00:0${second}.000000Z`,
  reportingController: 'slipway.dev/operator',
  type: 'Normal',
  reason: 'NodeDone',
  note: `${about} is done`,
  regarding: { apiVersion: 'v1', kind: 'Node', name: about },
  ...changes,
})

function told(): FakeKubeApi {
  return new FakeKubeApi().put(
    events,
    event('c', 'w2', 3, { type: 'Warning', reason: 'StepFailed', note: 'bad\u001b[31m news\nand more' }),
    event('a', 'w1', 1),
    event('b', 'w1', 2, { series: { count: 4, lastObservedTime: '2026-11-15T12:04:00.000000Z' } }),
    event('x', 'w1', 4, { reportingController: 'kubelet' }),
  )
}

describe('events', () => {
  it('tells them in the order of time, without what would move the cursor', async () => {
    const cli = cliFixture(told())
    expect(await cli.run('events')).toBe(0)
    expect(cli.out.text).toBe(
      [
        'AGO    TYPE     REASON      ABOUT    TIMES  MESSAGE',
        '4m59s  Normal   NodeDone    Node/w1  1      w1 is done',
        '4m57s  Warning  StepFailed  Node/w2  1      bad\\u{1b}[31m news and more',
        '1m     Normal   NodeDone    Node/w1  4      w1 is done',
        '',
      ].join('\n'),
    )
  })

  it.each([
    { argv: ['w2'], names: ['w2'] },
    { argv: ['--warnings'], names: ['w2'] },
    { argv: ['--last', '1'], names: ['w1'] },
    { argv: ['w9'], names: [] },
    { argv: ['w1', '--warnings'], names: [] },
  ])('chooses by $argv', async ({ argv, names }) => {
    const cli = cliFixture(told().put(nodes, node('w9')))
    await cli.run('events', ...argv, '-o', 'json')
    expect((JSON.parse(cli.out.text) as { name: string }[]).map(({ name }) => name)).toEqual(names)
  })

  it('a name that nothing has is no quiet one', async () => {
    const cli = cliFixture(told())
    expect(await cli.run('events', 'w11')).toBe(2)
    expect(cli.err.text).toContain('nothing that Slipway tells of is named w11 [NotFound]\nnext: ')
    const unread = told()
    unread.before = (verb) => {
      if (verb === 'get') throw new KubeError('Forbidden', 'you may not')
    }
    expect(await cliFixture(unread).run('events', 'w11')).toBe(0)
  })

  it('goes on with what happens next, each once', async () => {
    const api = told()
    const cli = cliFixture(api)
    const running = cli.run('events', '-w', '-o', 'json')
    await vi.waitFor(() => expect(api.watches).toHaveLength(1))
    api.put(events, event('d', 'w3', 5))
    await vi.waitFor(() => expect(cli.out.text).toContain('w3 is done'))
    cli.controller.abort()
    expect(await running).toBe(130)
    const lines = cli.out.text.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual(['w1', 'w2', 'w1', 'w3'])
  })
})
