import { describe, expect, it } from 'vitest'
import { cliFixture, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import { KubeError } from '../../api/kube-error.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'

async function offered(words: readonly string[], api = upgradeMidway()): Promise<readonly string[]> {
  const cli = cliFixture(api)
  expect(await cli.run('__complete', '--', ...words)).toBe(0)
  expect(cli.err.text).toBe('')
  return cli.out.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\t.*/, ''))
}

describe('completion', () => {
  it.each([
    { words: ['st'], offers: ['stop', 'start', 'status'] },
    { words: ['host', 'f'], offers: ['finish', 'forget'] },
    { words: ['why', 'w'], offers: ['w1', 'w2', 'w3', 'w4'] },
    { words: ['why', 't'], offers: ['to-1-36'] },
    { words: ['retry', ''], offers: ['to-1-36'] },
    { words: ['retry', 'to-1-36', 'w1', 'w2'], offers: ['w2'] },
    { words: ['update', '--skip', 'w4'], offers: ['w4'] },
    { words: ['status', '-o', ''], offers: ['table', 'json', 'yaml'] },
    { words: ['status', '--output=j'], offers: ['--output=json'] },
    { words: ['status', '--output', '=', ''], offers: ['--output=table', '--output=json', '--output=yaml'] },
    { words: ['--context', 'p'], offers: ['prod'] },
    { words: ['status', '--context', 'lab', 't'], offers: ['to-1-36'] },
    { words: ['--kubeconfig', ''], offers: [':files'] },
    { words: ['update', '-f', ''], offers: [':files'] },
    { words: ['bundle', 'verify', ''], offers: [':files'] },
    { words: ['pause', '--de'], offers: ['--debug'] },
    { words: ['nodes', 'w'], offers: [] },
    { words: ['nonsense', 'w'], offers: [] },
    { words: ['__'], offers: [] },
  ])('of $words', async ({ words, offers }) => {
    expect(await offered(words)).toEqual(offers)
  })

  it('knows the stores of the policy', async () => {
    const spec = { backupStores: [{ name: 'nightly', path: '/b' }] }
    const api = new FakeKubeApi().put(maintenancePolicies, { metadata: { name: 'default' }, spec })
    expect(await offered(['backup', 'create', '--store', ''], api)).toEqual(['nightly'])
    expect(await offered(['update', '--backup-store', ''], api)).toEqual(['nightly'])
    expect(await offered(['plan', '--backup', ''], api)).toEqual(['Required', 'IfConfigured', 'Never'])
  })

  it.each([
    { words: ['retry', '--profile', ''], offers: ['base', 'gpu'] },
    { words: ['retry', '--profile', 'base', 'w1'], offers: ['w1'] },
    { words: ['update', '--profile', 'g'], offers: ['gpu'] },
    { words: ['plan', '--profile=b'], offers: ['--profile=base'] },
  ])('knows profiles: $words', async ({ words, offers }) => {
    const profiles = ['base', 'gpu'].map((name) => nodeProfile(name, { sysctls: { 'vm.swappiness': '10' } }))
    expect(await offered(words, upgradeMidway().put(nodeProfiles, ...profiles))).toEqual(offers)
  })

  it('is silent where nobody answers', async () => {
    const api = new FakeKubeApi()
    api.failure = new KubeError('Unreachable', 'connect ECONNREFUSED')
    expect(await offered(['why', ''], api)).toEqual([])
  })

  it('gives up on a server that keeps it waiting', async () => {
    const api = upgradeMidway()
    api.list = () => new Promise(() => undefined)
    const cli = cliFixture(api)
    const running = cli.run('__complete', '--', 'why', '')
    await new Promise((resolve) => setImmediate(resolve))
    await cli.clock.advance(1500)
    expect(await running).toBe(0)
    expect(cli.out.text).toBe('')
  })

  it('answers kubectl in its own words', async () => {
    const cli = cliFixture(upgradeMidway())
    await cli.run('__complete', '--kubectl', '--', 'hold', 'w4')
    expect(cli.out.text).toBe('w4\tNode\n:4\n')
  })
})

describe('called through kubectl', () => {
  it('names its commands as they are typed there, but not in data', async () => {
    const through = { program: 'kubectl slipway' }
    const hold = cliFixture(upgradeMidway(), through)
    await hold.run('hold', 'w3')
    expect(hold.out.text).toContain('kubectl slipway release w3 ends it')
    const wrong = cliFixture(upgradeMidway(), through)
    await wrong.run('statsu')
    expect(wrong.err.text).toContain('next: kubectl slipway --help\n')
    const plain = cliFixture(upgradeMidway())
    const data = cliFixture(upgradeMidway(), through)
    await plain.run('why', 'w4', '-o', 'json')
    await data.run('why', 'w4', '-o', 'json')
    expect(data.out.text).toBe(plain.out.text)
  })

  it.each([['install', '--print'], ['completion', 'fish'], ['snapshot']])(
    'writes what is for a file or a program as it is: %s %s',
    async (...words) => {
      const crds = async () => 'description: slipway plan rehearses it\n'
      const [plain, data] = ['slipway', 'kubectl slipway'].map((program) =>
        cliFixture(upgradeMidway(), { program, crds }),
      )
      await plain?.run(...words)
      expect(await data?.run(...words)).toBe(0)
      expect(data?.out.text).toBe(plain?.out.text)
    },
  )
})
