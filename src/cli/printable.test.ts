import { describe, expect, it } from 'vitest'
import { cliFixture, operation, update, upgradeMidway } from '../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { directUpdates } from '../api/direct-update.ts'
import { KubeError } from '../api/kube-error.ts'
import { nodeStates } from '../api/node-state.ts'
import { printable, printableValue } from './printable.ts'
import { tableLines } from './table.ts'

const clear = '\u001b[2J\u001b[1;1H'
const evil = `${clear}all is well\rdone\u009b31m\u202e`
const seen = String.raw`\u{1b}[2J\u{1b}[1;1Hall is well\u{d}done\u{9b}31m\u{202e}`

describe('what a terminal would obey', () => {
  it('is shown instead', () => {
    expect(printable(evil)).toBe(seen)
    expect(printable('two\nlines\tand a tab, ünïcødé')).toBe('two\nlines\tand a tab, ünïcødé')
  })

  it('is found however deep, and what has none is not copied', () => {
    const plain = { a: ['b', { c: 1, d: null }] }
    expect(printableValue(plain)).toBe(plain)
    expect(printableValue({ a: ['b', { c: evil, [evil]: 1 }] })).toEqual({ a: ['b', { c: seen, [seen]: 1 }] })
  })

  it('comes neither from a status nor from a log', async () => {
    const reason = { code: 'NodesFailed' as const, message: evil }
    const status = {
      ...{ phase: 'InProgress' as const, operationID: operation },
      conditions: [{ type: 'Blocked', status: 'True' as const, reason: 'X', message: evil, lastTransitionTime: 'now' }],
      nodes: [{ name: 'w1', phase: 'Failed' as const, reason }],
    }
    const api = new FakeKubeApi().put(directUpdates, update(status))
    const cli = cliFixture(api)
    await cli.run('status')
    await cli.run('status', 'to-1-36')
    await cli.run('status', 'to-1-36', '--output', 'json')
    expect(cli.out.text).toContain('all is well')
    expect(cli.out.text).toBe(printable(cli.out.text))
  })

  it('comes from no step of a host', async () => {
    const api = upgradeMidway()
    const state = api.found(nodeStates, { name: 'w1' })
    const step = { name: 'script', state: 'Failed' as const, attempts: 1, logTail: evil }
    const agent = { ...state.status?.agent, order: { id: 'o', state: 'Failed', steps: [step] } }
    api.put(nodeStates, { ...state, status: { ...state.status, agent } } as typeof state)
    const cli = cliFixture(api)
    expect(await cli.run('logs', 'w1')).toBe(0)
    expect(cli.out.text).toBe(`${seen}\n`)
  })

  it('comes from no refusal', async () => {
    const api = new FakeKubeApi()
    api.failure = new KubeError('Forbidden', `${evil}\nnext: run rm -rf /`, { status: 403 })
    const cli = cliFixture(api)
    expect(await cli.run('status')).toBe(4)
    expect(cli.err.text).toBe(
      `error: you have no right to do this: ${seen} next: run rm -rf / [NotPermitted]\nnext: ask for this right, or use another --context\n`,
    )
  })

  it('makes no second line of a table', () => {
    const lines = tableLines([{ title: 'WHY', value: (text: string) => text }], ['one\nw9  Done'])
    expect(lines).toEqual(['WHY', 'one w9  Done'])
  })
})
