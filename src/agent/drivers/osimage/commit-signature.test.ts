import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { CommandResult } from '../../../ports/host.ts'
import { osImageDriver } from './osimage-driver.ts'

const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n'
const commit = 'c0'.repeat(32)
const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]
const [base, above] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`]

const config = (...layers: readonly string[]) =>
  JSON.stringify({
    config: { Labels: { 'ostree.commit': commit, 'ostree.final-diffid': base } },
    rootfs: { diff_ids: layers },
  })
/** As ostree 2025.2 prints it. */
const root = (digit: string) => `d00755 0 0      0 ${digit.repeat(64)} ${'4'.repeat(64)} /\n`
const unsigned = `error: Commit ${commit}: GPG verification enabled, but no signatures found (use gpg-verify=false in remote config to disable)`

interface Found {
  readonly config?: string
  /** Of what would be booted, and of the commit its labels name. */
  readonly roots?: readonly [string, string]
  readonly imported?: CommandResult
  readonly pulled?: CommandResult
}

const done = (stdout = ''): CommandResult => ({ exitCode: 0, stdout, stderr: '' })
const failed = (stderr: string): CommandResult => ({ exitCode: 1, stdout: '', stderr })

/** A host that stages an image with a GPG key; ostree says of it what is given. */
async function staged(found: Found, engine: 'rpm-ostree' | 'bootc' = 'rpm-ostree', fetchesAhead = true) {
  const bench = new AgentBench(1)
  bench.drivers = [osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
  const tools = new PretendImageTools(bench, engine, old)
  tools.publish('stable', next)
  tools.override = (argv) => {
    const words = argv.join(' ')
    if (words.includes('inspect --config --raw')) return done(found.config ?? config(base))
    if (words.startsWith('ostree ls')) return done(found.roots?.[words.includes(commit) ? 1 : 0] ?? root('3'))
    if (words.startsWith('ostree init') || words.startsWith('ostree remote add')) return done()
    if (words.startsWith('ostree remote gpg-import'))
      return found.imported ?? done('Imported 1 GPG key to remote "order"')
    if (words.startsWith('ostree pull')) return found.pulled ?? done()
    return !fetchesAhead && words.startsWith('ostree container') ? failed('unknown command') : undefined
  }
  const os = { image: `${repository}:stable`, verify: { key } }
  bench.cluster.place(scriptOrder({ work: { os }, rollback: 'Image', desired: 'Stage' }))
  bench.start()
  await bench.clock.until(() => ['Staged', 'Failed'].includes(bench.order?.state ?? ''))
  const wasFetched = tools.asked.some((line) => /--download-only|image pull .*@/.test(line))
  return { state: bench.order?.state, reason: bench.order?.reason, wasFetched, asked: tools.asked }
}

describe('a GPG key', () => {
  it('vouches for an image that is one signed commit', async () => {
    const { state, asked } = await staged({})
    expect(state).toBe('Staged')
    expect(asked.find((line) => line.startsWith('ostree pull'))).toMatch(
      new RegExp(`^ostree pull --repo=\\S+/commit-signature --commit-metadata-only order ${commit}$`),
    )
  })

  const refused: readonly [string, Found, string, boolean][] = [
    ['has a layer above its commit', { config: config(base, above) }, 'it has 1 layer above its ostree commit', false],
    ['is no commit', { config: '{"rootfs":{"diff_ids":[]}}' }, 'it is no ostree commit', false],
    ['is not signed', { pulled: failed(unsigned) }, 'no signatures found', true],
    ['would boot another tree', { roots: [root('5'), root('3')] }, 'what would be booted is not the tree of', true],
    ['does not hold the commit', { roots: [root('3'), ''] }, 'what would be booted is not the tree of', true],
  ]

  it.each(refused)('vouches for no image that %s', async (_, found, why, isFetched) => {
    const { state, reason, wasFetched } = await staged(found)
    expect(state).toBe('Failed')
    expect(reason).toEqual({ code: 'ImageUntrusted', message: expect.stringContaining(why) })
    expect(wasFetched).toBe(isFetched)
  })

  // Without a key of its own ostree would check by the keys of the system.
  it('that cannot be read ends it before anything is checked', async () => {
    const { reason, asked } = await staged({ imported: failed('error: GPG: Unable to export keys: GPGME: No data') })
    expect(reason?.message).toContain('os.verify.key cannot be read: error: GPG')
    expect(asked.filter((line) => line.startsWith('ostree pull'))).toEqual([])
  })

  it('needs a host that can fetch ahead', async () => {
    expect((await staged({}, 'bootc')).state).toBe('Staged')
    const { reason, wasFetched } = await staged({}, 'bootc', false)
    expect(reason?.message).toContain('bootc cannot fetch ahead on this host')
    expect(wasFetched).toBe(false)
  })
})
