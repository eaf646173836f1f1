import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, noon } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import type { LocalAnswer, LocalState } from '../../api/local-protocol.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { KeptOnHost } from '../../ports/host-memory.ts'
import type { LocalClient } from '../../ports/local-server.ts'
import type { ForgetOptions } from '../dependencies.ts'

const files = { required: '/var/maintenance-required', inProgress: '/var/maintenance-in-progress' }

const state: LocalState = {
  node: 'w1',
  status: {
    ...agentOf({
      id: 'default/w1/1',
      state: 'Running',
      steps: [{ name: 'maintenance', state: 'Running', attempts: 1, startedAt: noon }],
    }),
    sentinels: {
      maintenanceRequired: '2026-11-15T11:00:00Z',
      maintenanceInProgress: noon,
      failure: { code: 'MaintenanceFailed', message: 'disk sdb is dead' },
    },
  },
}

/** The command line with an agent that gives these answers. */
function onMachine(...answers: LocalAnswer[]) {
  const asked: unknown[] = []
  const ask = (path: string, line: string, onLine: (text: string) => void) => {
    asked.push([path, JSON.parse(line)])
    for (const answer of answers) onLine(JSON.stringify(answer))
    return Promise.resolve()
  }
  return { asked, ...cliFixture(new FakeKubeApi(), { local: async () => ({ ask }) }) }
}

describe('slipway host', () => {
  it('status shows what the agent does and what the host asks for', async () => {
    const cli = onMachine({ ok: true, result: state })
    expect(await cli.run('host', 'status')).toBe(0)
    expect(cli.asked).toEqual([['/run/slipway/agent.sock', { ask: 'state' }]])
    expect(cli.out.text).toMatchInlineSnapshot(`
      "Node:         w1
      Agent:        0.1.0
      System:       Debian 13, 6.12, kubelet v1.35.4
      Order:        default/w1/1 Running
      Maintenance:  asked for: 1h5m ago; let in: 5m ago
      Failed:       disk sdb is dead
      Reboot:       asked for: no

      STEP         STATE    STARTS  AGE  REASON
      maintenance  Running  1       5m
      "
    `)
  })

  it('status gives the same as data', async () => {
    const cli = onMachine({ ok: true, result: state })
    expect(await cli.run('host', 'status', '--output', 'json', '--socket', '/tmp/a.sock')).toBe(0)
    expect(JSON.parse(cli.out.text)).toEqual(state)
    expect(cli.asked).toEqual([['/tmp/a.sock', { ask: 'state' }]])
  })

  it('logs writes what comes, as it comes', async () => {
    const part = (text: string): LocalAnswer => ({ ok: true, more: true, result: { order: 'op-1', text } })
    const cli = onMachine(part('a'), part('b\n'), { ok: true, result: { order: 'op-1', text: 'c\n' } })
    expect(await cli.run('host', 'logs', '--follow', '--step', 'script')).toBe(0)
    expect(cli.out.text).toBe('ab\nc\n')
    expect(cli.asked).toMatchObject([[expect.anything(), { ask: 'logs', follow: true, step: 'script' }]])
  })

  it('request waits for both words', async () => {
    const cli = onMachine(
      { ok: true, more: true, result: { state: 'Requested', ...files } },
      { ok: true, result: { state: 'InProgress', ...files } },
    )
    expect(await cli.run('host', 'request', '--wait')).toBe(0)
    expect(cli.out.text).toContain('when its turn comes')
    expect(cli.out.text).toContain('the work may begin')
  })

  it('finish passes the reason on', async () => {
    const cli = onMachine({ ok: true, result: { state: 'Failed', ...files } })
    expect(await cli.run('host', 'finish', '--failed', 'disk sdb is dead')).toBe(0)
    expect(cli.asked).toMatchObject([[expect.anything(), { ask: 'finish', failed: 'disk sdb is dead' }]])
    expect(cli.out.text).toContain('stays cordoned')
  })

  it.each([
    { code: 'Refused', exit: 3 },
    { code: 'NotFound', exit: 2 },
    { code: 'Internal', exit: 1 },
  ] as const)('ends with $exit when the agent answers $code', async ({ code, exit }) => {
    const cli = onMachine({ ok: false, error: { code, message: 'no', nextStep: 'do this' } })
    expect(await cli.run('host', 'request')).toBe(exit)
    expect(cli.err.text).toBe(`error: no [${code}]\nnext: do this\n`)
  })

  it('ends with 4 when nobody answers, or hangs up too early', async () => {
    const nobody = () => Promise.reject(new SlipwayError('CannotReach', 'nobody', { nextStep: 'start it' }))
    const cli = cliFixture(new FakeKubeApi(), { local: async () => ({ ask: nobody }) })
    expect(await cli.run('host', 'status')).toBe(4)
    expect(
      await onMachine({ ok: true, more: true, result: { state: 'Requested', ...files } }).run(
        'host',
        'request',
        '--wait',
      ),
    ).toBe(4)
  })
})

describe('slipway host forget', () => {
  const nobody = () => Promise.reject(new SlipwayError('CannotReach', 'nobody', { nextStep: 'start it' }))
  const forgetting = (kept: readonly KeptOnHost[], ask: LocalClient['ask'] = nobody) => {
    const asked: unknown[] = []
    const forgetHost = (options: ForgetOptions) => {
      asked.push(options)
      return Promise.resolve(kept)
    }
    return { asked, ...cliFixture(new FakeKubeApi(), { local: async () => ({ ask }), forgetHost }) }
  }

  it('says when nothing is left', async () => {
    const cli = forgetting([])
    expect(await cli.run('host', 'forget', '--yes', '--host-root', '/host')).toBe(0)
    expect(cli.asked).toEqual([{ stateDir: '/var/lib/slipway', hostRoot: '/host' }])
    expect(cli.out.text).toContain('nothing of the agent is left')
  })

  it('ends with 3 and names what stays', async () => {
    const cli = forgetting([{ path: '/x', why: 'the only copy' }])
    expect(await cli.run('host', 'forget', '--yes')).toBe(3)
    expect(cli.err.text).toContain('error: this stays on the host: /x (the only copy) [Refused]')
  })

  it('touches nothing unless it is confirmed, and never under a running agent', async () => {
    const unsure = forgetting([])
    expect(await unsure.run('host', 'forget')).toBe(2)
    const inside: string[] = []
    const alive = forgetting([], (path, _line, onLine) => {
      inside.push(path)
      onLine(JSON.stringify({ ok: true, result: state }))
      return Promise.resolve()
    })
    expect(await alive.run('host', 'forget', '--yes', '--host-root', '/host')).toBe(3)
    expect(alive.err.text).toContain('an agent runs on this machine')
    expect(inside).toEqual(['/host/run/slipway/agent.sock'])
    expect([...unsure.asked, ...alive.asked]).toEqual([])
  })
})
