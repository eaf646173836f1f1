import { describe, expect, it } from 'vitest'
import { cliFixture } from '../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { directUpdates } from '../api/direct-update.ts'
import { KubeError } from '../api/kube-error.ts'
import { SlipwayError } from '../api/slipway-error.ts'

const forbidden = (message: string) => new KubeError('Forbidden', message, { status: 403 })

describe('failures', () => {
  it.each([
    {
      name: 'nobody answers',
      failure: new KubeError('Unreachable', 'connect ECONNREFUSED 10.0.0.1:6443'),
      code: 4,
      word: 'CannotReach',
      error: 'the API server does not answer: connect ECONNREFUSED 10.0.0.1:6443',
    },
    {
      name: 'wrong credentials',
      failure: new KubeError('Unauthorized', 'Unauthorized', { status: 401 }),
      code: 4,
      word: 'NotPermitted',
      error: 'the API server does not accept these credentials: Unauthorized',
    },
    {
      name: 'no right in the whole cluster',
      failure: forbidden(
        'nodes is forbidden: User "ana" cannot list resource "nodes" in API group "" at the cluster scope',
      ),
      code: 4,
      word: 'NotPermitted',
      error: 'you may not list nodes in the whole cluster',
    },
    {
      name: 'no right in a namespace',
      failure: forbidden(
        'x is forbidden: User "ana" cannot create resource "directupdates" in API group "slipway.dev" in the namespace "ops"',
      ),
      code: 4,
      word: 'NotPermitted',
      error: 'you may not create directupdates.slipway.dev in namespace ops',
    },
    {
      name: 'older CRDs',
      failure: new KubeError('Invalid', 'strict decoding error: unknown field "spec.drain"', { status: 400 }),
      code: 4,
      word: 'CrdsOutdated',
      error: "the cluster's CustomResourceDefinitions are older than this program: they do not know spec.drain",
    },
    {
      name: 'a wrong shape',
      failure: new KubeError('Invalid', 'is invalid', {
        status: 422,
        causes: [{ field: 'spec.strategy.maxUnavailable', message: 'must be at least 1' }],
      }),
      code: 2,
      word: 'Usage',
      error: 'the API server refused it: spec.strategy.maxUnavailable: must be at least 1',
    },
    {
      name: 'a busy server',
      failure: new KubeError('ServerError', 'etcd leader changed'),
      code: 1,
      word: 'Internal',
      error: 'the API server refused: etcd leader changed',
    },
  ])('$name', async ({ failure, code, word, error }) => {
    const api = new FakeKubeApi()
    api.failure = failure
    const cli = cliFixture(api)
    expect(await cli.run('status')).toBe(code)
    const [first, second, ...rest] = cli.err.text.trimEnd().split('\n')
    expect(first).toBe(`error: ${error} [${word}]`)
    expect(second).toMatch(/^next: ./)
    expect(rest).toEqual([])
  })

  it.each([['status'], ['status', 'x'], ['nodes'], ['why', 'w1']])(
    'CRDs that are not installed: %s %s',
    async (...argv) => {
      const api = new FakeKubeApi()
      api.before = (_verb, { apiVersion }) => {
        if (apiVersion === directUpdates.apiVersion)
          throw new KubeError('NotFound', '404 page not found', { status: 404 })
      }
      const cli = cliFixture(api)
      expect(await cli.run(...argv)).toBe(4)
      expect(cli.err.text).toMatch(
        /^error: this cluster does not know the kind \w+ \(slipway.dev\/v1alpha1\) \[CrdsMissing\]\nnext: Slipway is not installed here; run: slipway install/,
      )
    },
  )

  it('a broken kubeconfig', async () => {
    const connect = () =>
      Promise.reject(
        new SlipwayError('KubeconfigBroken', '~/.kube/config: no context named x', {
          nextStep: 'choose one with --context',
        }),
      )
    const cli = cliFixture(new FakeKubeApi(), { connect })
    expect(await cli.run('nodes')).toBe(4)
    expect(cli.err.text).toBe(
      'error: ~/.kube/config: no context named x [KubeconfigBroken]\nnext: choose one with --context\n',
    )
  })

  it('shows where it came from only with --debug', async () => {
    const connect = () => Promise.reject(new TypeError('cannot read x of undefined'))
    const plain = cliFixture(new FakeKubeApi(), { connect })
    expect(await plain.run('nodes')).toBe(1)
    expect(plain.err.text).not.toContain('exit-code.test')
    const debug = cliFixture(new FakeKubeApi(), { connect })
    await debug.run('nodes', '--debug')
    expect(debug.err.text).toContain('exit-code.test')
  })
})

it.each([
  { argv: ['help', 'backup', 'list'], usage: 'Usage: slipway backup list [options]\n' },
  { argv: ['help', 'backup'], usage: 'Usage: slipway backup [options] [command]\n' },
  { argv: ['help'], usage: 'Usage: slipway [options] [command]\n' },
])('$argv shows how to use just that', async ({ argv, usage }) => {
  const cli = cliFixture(new FakeKubeApi())
  expect(await cli.run(...argv)).toBe(0)
  expect(cli.out.text).toContain(usage)
})

describe('wrong usage', () => {
  it.each([
    {
      argv: ['statsu'],
      says: "error: unknown command 'statsu' [Usage]\n(Did you mean status?)\nnext: slipway --help\n",
    },
    {
      argv: ['help', 'statsu'],
      says: "error: unknown command 'statsu' [Usage]\n(Did you mean status?)\nnext: slipway --help\n",
    },
    { argv: ['nodes', '--wide'], says: "error: unknown option '--wide'" },
    {
      argv: ['hold'],
      says: "error: missing required argument 'node' [Usage]\nnext: slipway hold --help\n",
    },
    { argv: ['status', '--output', 'xml'], says: 'Allowed choices are table, json, yaml' },
    {
      argv: ['sim', 'agents'],
      says: "error: required option '--state <dir>' not specified [Usage]\nnext: slipway sim agents --help\n",
    },
    { argv: ['simulate', '--seeds', '9..1'], says: 'It must be one seed or a range such as 1..1000.' },
    ...['demo', 'simulate'].map((name) => ({
      argv: [name, '--nodes', '2'],
      says: 'A pod that leaves a worker needs another to go to: give at least 3 nodes. [Usage]\n',
    })),
    { argv: ['uninstall'], says: 'slipway uninstall --yes' },
  ])('$argv', async ({ argv, says }) => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run(...argv)).toBe(2)
    expect(cli.err.text).toContain(says)
    expect(cli.out.text).toBe('')
  })

  it.each([
    [[]],
    ...['demo', 'update', 'status', 'nodes', 'why', 'install', 'simulate', 'operator', 'agent'].map((name) => [[name]]),
    [['sim', 'agents']],
  ])('%s --help has examples and ends well', async (path) => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run(...path, '--help')).toBe(0)
    expect(cli.out.text).toContain(`\nExamples:\n  slipway ${path.join(' ')}`)
  })

  it('tells its version', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('--version')).toBe(0)
    expect(cli.out.text).toBe('0.1.0\n')
  })
})
