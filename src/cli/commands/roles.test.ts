import { describe, expect, it } from 'vitest'
import { cliFixture, node, nodeState, operation, update } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import type { CliDependencies, ConsoleOptions, DemoConsole, RolloutFigures, SimulateResult } from '../dependencies.ts'

const figures: RolloutFigures = {
  ...{ phase: 'Succeeded', nodes: 12, violations: [], makespanSeconds: 600, idealSeconds: 590 },
  ...{ ratio: 1.017, requestsPerNode: 17.25, seed: 1 },
}

describe('demo', () => {
  const runDemo: CliDependencies['runDemo'] = async (options, sink) => {
    const now = new Date('2026-11-15T12:05:00Z')
    sink.note(now, 'the operator is killed')
    const status = { phase: 'InProgress' as const, operationID: operation }
    sink.show({
      now,
      update: update(status),
      nodes: [node('w1')],
      nodeStates: [nodeState('w1', { phase: 'Draining' })],
    })
    return { ...figures, seed: options.seed, nodes: options.nodes }
  }

  it('shows plain lines without a terminal, and how it ended', async () => {
    const cli = cliFixture(new FakeKubeApi(), { runDemo })
    expect(await cli.run('demo', '--nodes', '3')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "12:05:00 the operator is killed
      12:05:00 update to-1-36 InProgress: v1.36.3, 0/1 done, 1 under work
      12:05:00 w1 Draining
      Succeeded: 3 nodes in 10m of cluster time (ideal 9m50s, ratio 1.02), 17.3 API requests a node, 0 rules broken (seed 1)
      "
    `)
  })

  it.each(['1', '2'])('refuses %s nodes, between which no pod can move', async (count) => {
    const cli = cliFixture(new FakeKubeApi(), { runDemo })
    expect(await cli.run('demo', '--nodes', count)).toBe(2)
    expect(cli.err.text).toContain('needs another to go to: give at least 3 nodes')
  })

  it('gives only the figures to machines', async () => {
    const cli = cliFixture(new FakeKubeApi(), { runDemo })
    expect(await cli.run('demo', '--once', '--output', 'json', '--seed', '7')).toBe(0)
    expect(JSON.parse(cli.out.text)).toEqual({ ...figures, seed: 7 })
  })

  it.each([
    { tty: false, argv: [], speed: Number.POSITIVE_INFINITY },
    { tty: true, argv: [], speed: 20 },
    { tty: true, argv: ['--once'], speed: Number.POSITIVE_INFINITY },
    { tty: true, argv: ['--speed', '2.5'], speed: 2.5 },
  ])('runs at $speed with $argv, terminal: $tty', async ({ tty, argv, speed }) => {
    let asked: number | undefined
    const cli = cliFixture(new FakeKubeApi(), {
      runDemo: async (options) => {
        asked = options.speed
        return figures
      },
    })
    cli.out.isTTY = tty
    await cli.run('demo', ...argv)
    expect(asked).toBe(speed)
  })

  it.each([
    { argv: [], colours: true },
    { argv: ['--no-color'], colours: false },
  ])('paints a terminal with $argv: $colours', async ({ argv, colours }) => {
    const cli = cliFixture(new FakeKubeApi(), { runDemo })
    cli.out.isTTY = true
    cli.out.color = true
    await cli.run('demo', ...argv)
    expect(cli.out.text.includes(`${String.fromCharCode(27)}[36mInProgress`)).toBe(colours)
  })

  it.each([{ phase: 'Failed' }, { violations: [{ seed: 1, rule: '1', message: 'two away, one allowed' }] }])(
    'exits with 1 after %j',
    async (change) => {
      const cli = cliFixture(new FakeKubeApi(), { runDemo: async () => ({ ...figures, ...change }) })
      expect(await cli.run('demo')).toBe(1)
    },
  )
})

describe('the console of a demo', () => {
  const asked = async (tty: boolean, argv: readonly string[], hasPage = true) => {
    let console: DemoConsole | undefined
    const cli = cliFixture(new FakeKubeApi(), {
      hasPage: async () => hasPage,
      runDemo: async (options) => {
        console = options.console
        console?.onReady('http://127.0.0.1:1/?token=t#/fleet')
        if (console?.stays) console.onEnd(figures)
        return { ...figures, phase: console?.stays ? 'InProgress' : 'Succeeded' }
      },
    })
    cli.out.isTTY = tty
    const code = await cli.run('demo', ...argv)
    return { console, code, out: cli.out.text, err: cli.err.text }
  }

  it.each([
    { tty: true, argv: [], served: true, stays: true },
    { tty: false, argv: [], served: false, stays: undefined },
    { tty: true, argv: ['--once'], served: false, stays: undefined },
    { tty: false, argv: ['--console', '--port', '8080'], served: true, stays: false },
    { tty: true, argv: ['--once', '--console'], served: true, stays: false },
  ])('terminal: $tty, $argv: served $served, stays $stays', async ({ tty, argv, served, stays }) => {
    const { console, code, out } = await asked(tty, argv)
    expect(console !== undefined).toBe(served)
    expect(console?.stays).toBe(stays)
    expect(out.includes('console: http://127.0.0.1:1/?token=t#/fleet')).toBe(served)
    expect(out.includes('Ctrl-C ends both')).toBe(stays ?? false)
    expect(code).toBe(0)
  })

  it('a checkout in which the page was not built shows the demo all the same, and says so', async () => {
    const { console, err } = await asked(true, [], false)
    expect(console).toBeUndefined()
    expect(err).toContain('make build')
  })
})

describe('console', () => {
  it('prints its URL with the options it was given, and opens a browser only when asked', async () => {
    const opened: string[] = []
    const wishes: ConsoleOptions[] = []
    const cli = cliFixture(new FakeKubeApi(), {
      runConsole: async (options) => {
        wishes.push(options)
        options.onReady('http://127.0.0.1:8080/?token=t#/fleet')
      },
      openBrowser: async (url) => opened.push(url) > 0,
    })
    expect(await cli.run('console', '--context', 'prod', '--port', '8080')).toBe(0)
    expect(cli.out.text).toBe('console: http://127.0.0.1:8080/?token=t#/fleet\nCtrl-C ends it\n')
    expect(wishes).toEqual([expect.objectContaining({ context: 'prod', port: 8080, namespace: 'slipway-system' })])
    expect(opened).toEqual([])
    await cli.run('console', '--open')
    expect(opened).toEqual(['http://127.0.0.1:8080/?token=t#/fleet'])
    expect(await cli.run('console', '--port', '70000')).toBe(2)
  })
})

describe('simulate', () => {
  const broken: SimulateResult = {
    runs: 1000,
    violations: [{ seed: 42, rule: '6', message: 'w2 was uncordoned against a person' }],
    faults: { 'operator-killed': 812 },
  }

  it('refuses faults on a cluster without room for two nodes away', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('simulate', '--faults', 'all', '--nodes', '4')).toBe(2)
    expect(cli.err.text).toContain('next: slipway simulate --faults all --nodes 5')
  })

  it('passes on what was asked, tells broken rules, exits with 1', async () => {
    let asked: unknown
    const cli = cliFixture(new FakeKubeApi(), {
      runSimulate: async (options) => {
        asked = options
        return broken
      },
    })
    expect(await cli.run('simulate', '--faults', 'all', '--seeds', '1..1000')).toBe(1)
    expect(asked).toEqual({ podsPerNode: 20, faults: 'all', seeds: { first: 1, last: 1000 }, maxUnavailable: '5%' })
    expect(cli.out.text).toBe(
      '1000 runs, 1 rules broken\n  seed 42: rule 6: w2 was uncordoned against a person\nfaults: operator-killed 812\n',
    )
  })

  it('gives the result as JSON', async () => {
    const cli = cliFixture(new FakeKubeApi(), { runSimulate: async () => ({ runs: 2, violations: [] }) })
    expect(await cli.run('simulate', '--seeds', '1..2', '-o', 'json')).toBe(0)
    expect(JSON.parse(cli.out.text)).toEqual({ runs: 2, violations: [] })
  })
})

describe('a saved simulation', () => {
  const recorded = [{ seed: 1, writes: 3, sha256: ['a'.repeat(64)] }]
  const other = [{ seed: 1, writes: 4, sha256: ['b'.repeat(64)] }]
  const waits = [
    { code: 'BudgetSpent', times: 2, totalSeconds: 90, longest: { seconds: 60, who: 'node w1', message: 'm' } },
  ]

  async function saved(): Promise<string> {
    let text = ''
    const cli = cliFixture(new FakeKubeApi(), {
      runSimulate: async () => ({ runs: 1, violations: [], recorded, waits }),
      writeFile: async (_, written) => {
        text = written
      },
    })
    expect(await cli.run('simulate', '--nodes', '9', '--explain', '--record', 'run.json')).toBe(0)
    expect(cli.out.text).toContain('BudgetSpent  2      1m30s   1m       node w1: m\n')
    return text
  }

  it.each([
    { name: 'the same', again: recorded, code: 0, told: 'the same again: 1 runs, 3 writes' },
    { name: 'another', again: other, code: 1, told: 'not the same: seed 1: another write' },
  ])('is run again with what was asked, and told to be $name', async ({ again, code, told }) => {
    const text = await saved()
    let asked: unknown
    const cli = cliFixture(new FakeKubeApi(), {
      readFile: async () => text,
      runSimulate: async (options) => {
        asked = options
        return { runs: 1, violations: [], recorded: again }
      },
    })
    expect(await cli.run('simulate', '--replay', 'run.json')).toBe(code)
    expect(asked).toMatchObject({ nodes: 9, seeds: { first: 1, last: 1 }, record: true })
    expect(cli.out.text).toContain(told)
  })

  it('that cannot be saved is told all the same', async () => {
    const cli = cliFixture(new FakeKubeApi(), {
      runSimulate: async () => ({ runs: 1, violations: [], recorded }),
      writeFile: () => Promise.reject(new Error('there is no such folder')),
    })
    expect(await cli.run('simulate', '--record', '/no/such/run.json')).toBe(1)
    expect(cli.out.text).toContain('1 run, 0 rules broken')
  })

  it('is run as it was: what is asked besides is refused', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('simulate', '--replay', 'run.json', '--pods-per-node', '3')).toBe(2)
  })

  it('that is none is refused', async () => {
    const cli = cliFixture(new FakeKubeApi(), { readFile: async () => '{"kind":"Pod"}' })
    expect(await cli.run('simulate', '--replay', 'run.json')).toBe(2)
    expect(cli.err.text).toContain('run.json is no saved simulation')
  })
})

describe('long-running roles', () => {
  it('hands the options over', async () => {
    const asked: unknown[] = []
    const keep = async (options: unknown) => {
      asked.push(options)
    }
    const deps = { runOperator: keep, runAgent: keep, runSimAgents: keep }
    const run = (...argv: readonly string[]) => cliFixture(new FakeKubeApi(), deps).run(...argv)
    expect(await run('operator', '--kubeconfig', 'k', '--node-name', 'w1')).toBe(0)
    expect(await run('agent', '--node-name', 'w1', '--host-root', '/host', '--log-level', 'debug')).toBe(0)
    expect(await run('agent', '--node-name', 'w2', '--only', 'reboots')).toBe(0)
    expect(
      await run('--context', 'c', 'sim', 'agents', '--state', '/s', '--work', '2s', '--offers', 'v1.36.3,v1.37.0'),
    ).toBe(0)
    expect(asked).toEqual([
      {
        ...{ kubeconfig: 'k', namespace: 'slipway-system', leaseName: 'slipway-operator' },
        ...{ metricsAddress: ':8080', nodeName: 'w1', logLevel: 'info' },
      },
      { nodeName: 'w1', stateDir: '/var/lib/slipway', hostRoot: '/host', logLevel: 'debug' },
      { nodeName: 'w2', stateDir: '/var/lib/slipway', hostRoot: '/', only: 'reboots', logLevel: 'info' },
      { context: 'c', workMs: 2000, stateDir: '/s', offers: ['v1.36.3', 'v1.37.0'], kubelets: false },
    ])
  })
})
