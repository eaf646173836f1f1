// Whom a host trusts for its image, asked of the real ostree and of the engine of rpm-ostree and bootc, on a repository that nothing is
// booted from.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkCommit, whyNoCommit } from '../../src/agent/drivers/osimage/commit-signature.ts'
import type { ImageTrust } from '../../src/api/os-image.ts'
import { trustedReference, whyRefused } from '../../src/core/image/trust.ts'
import { AgentBench } from '../agent/agent-bench.ts'
import { type CommitDesk, openCommitDesk } from '../bed/osimage/commit-images.ts'
import { relabelled, withLayer } from '../bed/osimage/oci-image.ts'
import { signingKey } from '../bed/signing-key.ts'

const { signal } = new AbortController()
const { host } = new AgentBench(1)
const place = { host, stagingFolder: '/var/tmp/order' }
/** An archive without files. */
const emptyTar = Buffer.alloc(10_240)

let desk: CommitDesk
let key: string

beforeAll(async () => {
  desk = await openCommitDesk()
  host.answer = (command) => desk.run(command)
  key = await readFile((await signingKey('trusted')).armoredPath, 'utf8')
})

afterAll(async () => desk[Symbol.asyncDispose]())

describe('an image that is one ostree commit', () => {
  test.each([
    ['signed with the key is trusted', 'good', 'trusted', undefined],
    ['that is not signed is not', 'plain', undefined, 'no signatures found'],
    ['signed with another key is not', 'strange', 'stranger', 'public key not found'],
  ] as const)('%s', async (_, name, signer, why) => {
    const { layout } = await desk.commit(name, signer)
    const image = await desk.push(name, await relabelled(layout))
    expect(await whyNoCommit(host, 'rpm-ostree', image, signal)).toBeUndefined()
    desk.fetch(image)
    const reason = await checkCommit(place, image, key, signal)
    if (why === undefined) expect(reason).toBeUndefined()
    else expect(reason).toEqual({ code: 'ImageUntrusted', message: expect.stringContaining(why) })
  })

  test('is not trusted by what is no key, though the commit is signed', async () => {
    const { layout } = await desk.commit('again', 'trusted')
    const image = await desk.push('again', await relabelled(layout))
    desk.fetch(image)
    const noKey = key.replace(/\n\n[\s\S]*\n-----END/, '\n\n-----END')
    const reason = await checkCommit(place, image, noKey, signal)
    expect(reason?.message).toContain('os.verify.key cannot be read')
  })
})

describe('a signed commit vouches for no other image', () => {
  test('one with a layer above it is refused before it is fetched', async () => {
    const { layout } = await desk.commit('base', 'trusted')
    const image = await desk.push('above', await withLayer(layout, 'above', emptyTar))
    const reason = await whyNoCommit(host, 'rpm-ostree', image, signal)
    expect(reason?.message).toContain('it has 1 layer above its ostree commit')
  })

  test('one that only says it is that commit is refused', async () => {
    const signed = await desk.commit('signed', 'trusted')
    desk.fetch(await desk.push('signed', await relabelled(signed.layout)))
    const forged = await desk.commit('forged', undefined)
    const image = await desk.push('forged', await relabelled(forged.layout, { 'ostree.commit': signed.checksum }))
    expect(await whyNoCommit(host, 'rpm-ostree', image, signal)).toBeUndefined()
    desk.fetch(image)
    const reason = await checkCommit(place, image, key, signal)
    expect(reason?.message).toContain('what would be booted is not the tree of its commit')
  })
})

describe('the engine, told what an origin asks for,', () => {
  interface Asked {
    readonly trust?: ImageTrust
    readonly signer?: 'trusted' | 'stranger'
    /** By containers-policy.json: what every image needs, and what those of the test's own registry do. */
    readonly all?: object
    readonly ours?: object
  }

  const remote: ImageTrust = { by: 'Remote', remote: 'ours' }
  const policy: ImageTrust = { by: 'Policy' }
  const reject = { type: 'reject' }
  const accept = { type: 'insecureAcceptAnything' }

  async function pull(tag: string, { trust, signer, all = accept, ours = accept }: Asked) {
    const { layout } = await desk.commit(tag, signer)
    const { name, instance } = await desk.push(tag, await relabelled(layout))
    const reference = trustedReference(trust, `${name}@${instance}`)
    writePolicy(all, ours)
    try {
      return desk.run({ argv: ['/front/osimage', 'container', 'image', 'pull', '/ostree/repo', reference] })
    } finally {
      writePolicy(accept, accept)
    }
  }

  function writePolicy(all: object, ours: object): void {
    const transports = { docker: { [desk.registry]: [ours] } }
    const input = JSON.stringify({ default: [all], transports })
    desk.run({ argv: ['sh', '-c', 'mkdir -p /etc/containers; cat > /etc/containers/policy.json'], input })
  }

  test.each([
    ['takes a commit that the remote has signed', 'remote-good', 'trusted', true],
    ['takes none that is not signed', 'remote-plain', undefined, false],
    ['takes none that a stranger has signed', 'remote-strange', 'stranger', false],
  ] as const)('by an ostree remote %s', async (_, tag, signer, isTaken) => {
    const add = ['ostree', 'remote', 'add', '--repo=/ostree/repo', '--if-not-exists', '--set=gpg-verify=true']
    desk.run({ argv: [...add, 'ours', 'https://unused.example'] })
    desk.run({ argv: ['ostree', 'remote', 'gpg-import', '--repo=/ostree/repo', '--stdin', 'ours'], input: key })
    const { exitCode, stderr } = await pull(tag, { trust: remote, ...(signer && { signer }) })
    expect(exitCode === 0, stderr).toBe(isTaken)
    if (!isTaken) expect(whyRefused(remote, stderr), stderr).toContain('a signature by the ostree remote ours')
  })

  test('by a remote that is not there takes nothing', async () => {
    const { exitCode, stderr } = await pull('remote-gone', {
      trust: { by: 'Remote', remote: 'gone' },
      signer: 'trusted',
    })
    expect(exitCode).not.toBe(0)
    expect(whyRefused(remote, stderr), stderr).toBeDefined()
  })

  test.each([
    ['that asks something of others takes the image', 'policy-good', reject, accept, true],
    ['that takes everything takes nothing', 'policy-open', accept, accept, false],
    ['that refuses the image takes nothing', 'policy-closed', reject, reject, false],
  ])('by a policy %s', async (_, tag, all, ours, isTaken) => {
    const { exitCode, stderr } = await pull(tag, { trust: policy, all, ours })
    expect(exitCode === 0, stderr).toBe(isTaken)
    if (!isTaken) expect(whyRefused(policy, stderr), stderr).toContain('ostree-image-signed')
  })

  test('by nothing holds to the policy all the same', async () => {
    const { exitCode, stderr } = await pull('unverified', { ours: reject })
    expect(exitCode).not.toBe(0)
    expect(whyRefused(undefined, stderr), stderr).toContain('containers-policy.json does not take it')
  })
})
