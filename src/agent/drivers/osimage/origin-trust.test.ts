import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { cosignClaim, digestOfText, makeCosignKey } from '../../../../test/fakes/cosign-signer.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import type { OsWork } from '../../../api/work.ts'
import { osImageDriver } from './osimage-driver.ts'

const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]
const pinned = `${repository}@${next.digest}`
const signed = { prefix: 'ostree-image-signed:docker://', signature: 'containerPolicy' }
const remote = { prefix: 'ostree-remote-image:fedora:docker://', signature: { ostreeRemote: 'fedora' } }

/** A host that was installed so, and an order for it. */
function machine(engine: 'rpm-ostree' | 'bootc', origin: PretendImageTools['origin']) {
  const bench = new AgentBench(1)
  bench.drivers = [osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
  const tools = new PretendImageTools(bench, engine, old)
  tools.origin = origin
  tools.publish('stable', next)
  tools.publish('old', old)
  const begin = (os: OsWork = { image: `${repository}:stable` }, part: Partial<Order> = {}) => {
    bench.cluster.place(scriptOrder({ work: { os }, rollback: 'Image', ...part }))
    bench.start()
  }
  /** What the tools were told to fetch and to stage. */
  const told = () => tools.asked.filter((line) => /rebase|switch|image pull .*@/.test(line))
  return { bench, tools, begin, told }
}

describe('what the origin of a host asks for', () => {
  const [bySigned, byRemote] = [`ostree-image-signed:docker://${pinned}`, `ostree-remote-registry:fedora:${pinned}`]

  it.each([
    ['rpm-ostree', signed, [`--download-only ${bySigned}`, `--bypass-driver ${bySigned}`]],
    ['rpm-ostree', remote, [`--download-only ${byRemote}`, `--bypass-driver ${byRemote}`]],
    ['bootc', signed, [`pull /ostree/repo ${bySigned}`, '--enforce-container-sigpolicy --transport registry']],
  ] as const)('is asked of the new image too: %s, %j', async (engine, origin, words) => {
    const { bench, tools, begin, told } = machine(engine, origin)
    begin()
    await tools.until('Succeeded')
    expect(told()).toEqual(words.map((part) => expect.stringContaining(part)))
    expect(bench.order?.warnings).toBeUndefined()
  })

  it('may be more than bootc can keep: nothing is fetched, and the node is not drained', async () => {
    const { bench, begin, told } = machine('bootc', remote)
    begin(undefined, { desired: 'Stage' })
    await bench.clock.until(bench.hasEnded('Failed'))
    const message = expect.stringContaining('the ostree remote fedora, which bootc switch cannot keep')
    expect(bench.order?.reason).toEqual({ code: 'ImageUntrusted', message })
    expect(told()).toEqual([])
  })

  it('does not matter where the image is booted already', async () => {
    const { tools, begin } = machine('bootc', remote)
    begin({ image: `${repository}:old` })
    await tools.until('Succeeded')
  })

  it('ends the work where the image does not meet it, and the reason says what to do', async () => {
    const { bench, tools, begin } = machine('rpm-ostree', signed)
    const stderr = 'error: failed to invoke method OpenImage: A signature was required, but no signature exists'
    tools.override = (argv) => (argv.includes('--download-only') ? { exitCode: 1, stdout: '', stderr } : undefined)
    begin()
    await bench.clock.until(bench.hasEnded('Failed'))
    const message = expect.stringMatching(/no signature exists; this host’s origin asks .*name os\.verify\.key/s)
    expect(bench.order?.reason).toEqual({ code: 'ImageUntrusted', message })
    expect(tools.staged).toBeUndefined()
  })

  it('gives way to a key that holds, and that is told', async () => {
    const { bench, tools, begin, told } = machine('bootc', remote)
    const key = makeCosignKey()
    const { text, signature } = cosignClaim(key, next.digest)
    const annotations = { 'dev.cosignproject.cosign/signature': signature }
    tools.blobs.set(digestOfText(text), text)
    const claims = pretendImage('claims', [{ digest: digestOfText(text), size: text.length, annotations }])
    tools.registry.set(`${next.digest.replace(':', '-')}.sig`, claims)
    begin({ image: `${repository}:stable`, verify: { key: key.publicKey } }, { desired: 'Stage' })
    await bench.clock.until(bench.hasEnded('Staged'))
    expect(told()).toEqual([expect.stringContaining(`ostree-unverified-registry:${pinned}`)])
    expect(bench.order?.warnings).toEqual([
      expect.stringContaining('instead of a signature by the ostree remote fedora'),
    ])
  })
})
