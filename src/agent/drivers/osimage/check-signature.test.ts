import { describe, expect, it } from 'vitest'
import { AgentBench } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import {
  bundleManifest,
  type CosignKey,
  cosignBundle,
  cosignClaim,
  cosignKeyKinds,
  cosignStatement,
  digestOfText,
  makeCosignKey,
  referrersIndex,
} from '../../../../test/fakes/cosign-signer.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import { checkSignature } from './check-signature.ts'

const { signal } = new AbortController()
const digest = (digit: string) => `sha256:${digit.repeat(64)}`
/** A list of images, and the one of it for this host. */
const [list, instance, other] = [digest('1'), digest('2'), digest('3')]
const key = makeCosignKey()
const bundleOf = (named = list, signer = key) => cosignBundle(signer, cosignStatement(named))
const tagOf = (of: string) => of.replace(':', '-')

class Beside {
  readonly #bench = new AgentBench(1)
  readonly tools = new PretendImageTools(this.#bench, 'bootc', pretendImage('1.0'))

  /** Lays the bundle into the registry; the digest of its manifest. */
  put(bundle: string, subject = list): string {
    this.tools.blobs.set(digestOfText(bundle), bundle)
    return this.putManifest(bundleManifest(bundle, subject))
  }

  putManifest(manifest: string, place = digestOfText(manifest)): string {
    this.tools.registry.set(place, { manifest, digest: digestOfText(manifest) })
    return digestOfText(manifest)
  }

  /** As a registry without a list of its own has it. */
  index(of: string, ...manifests: readonly { readonly digest: string; readonly artifactType?: string }[]): void {
    this.putManifest(referrersIndex(manifests.map((one) => ({ size: 700, ...one }))), tagOf(of))
  }

  claim(of: string, named = of, signer = key): void {
    const { text, signature } = cosignClaim(signer, named)
    this.tools.blobs.set(digestOfText(text), text)
    const annotations = { 'dev.cosignproject.cosign/signature': signature }
    this.putManifest(
      pretendImage('claims', [{ digest: digestOfText(text), size: text.length, annotations }]).manifest,
      `${tagOf(of)}.sig`,
    )
  }

  async reason({ signatures, by = key }: { signatures?: string[]; by?: CosignKey } = {}): Promise<string | undefined> {
    const image = {
      name: repository,
      digest: list,
      instance,
      manifest: { config: { digest: list, size: 1 }, layers: [] },
    }
    const verify = { key: by.publicKey, ...(signatures && { signatures }) }
    const place = { host: this.#bench.host, stagingFolder: '/var/lib/slipway/staging' }
    const reason = await checkSignature(place, image, verify, keyPairSignatures, signal)
    if (reason) expect(reason.code).toBe('ImageUntrusted')
    return reason?.message
  }
}

describe('a bundle', () => {
  it.each([list, instance])('that the order names is found: of %s', async (of) => {
    const beside = new Beside()
    expect(await beside.reason({ signatures: [beside.put(bundleOf(of), of)] })).toBeUndefined()
  })

  it.each([list, instance])('under the tag of the digest is found: of %s', async (of) => {
    const beside = new Beside()
    beside.index(of, { digest: beside.put(bundleOf(of), of) })
    expect(await beside.reason()).toBeUndefined()
  })

  it.each(cosignKeyKinds)('by a key of the kind %s is found', async (kind) => {
    const beside = new Beside()
    const by = makeCosignKey(kind)
    beside.index(list, { digest: beside.put(bundleOf(list, by)) })
    expect(await beside.reason({ by })).toBeUndefined()
    expect(await beside.reason({ by: makeCosignKey(kind) })).toContain('is not by os.verify.key')
  })

  it('is found among others, and foreign things are not fetched', async () => {
    const beside = new Beside()
    const sbom = beside.putManifest('{"layers":[]}')
    const attestation = cosignBundle(key, cosignStatement(list, { predicateType: 'https://spdx.dev/Document' }))
    beside.index(
      list,
      { digest: sbom, artifactType: 'application/spdx+json' },
      { digest: beside.put(attestation) },
      { digest: beside.put(bundleOf(list, makeCosignKey())) },
      { digest: beside.put(bundleOf()) },
    )
    expect(await beside.reason()).toBeUndefined()
    expect(beside.tools.asked.join('\n')).not.toContain(sbom)
  })

  it('of the image for other hosts is passed over', async () => {
    const beside = new Beside()
    expect(await beside.reason({ signatures: [beside.put(bundleOf(other), other)] })).toContain('is not signed')
    expect(beside.tools.asked.filter((line) => line.includes(' copy '))).toEqual([])
  })

  it('counts beside claims that do not hold, and claims count beside it', async () => {
    const beside = new Beside()
    beside.claim(list, list, makeCosignKey())
    expect(await beside.reason({ signatures: [beside.put(bundleOf())] })).toBeUndefined()
    const old = new Beside()
    old.claim(list)
    expect(await old.reason({ signatures: [old.put(bundleOf(list, makeCosignKey()))] })).toBeUndefined()
  })
})

describe('an image is refused', () => {
  const cases: readonly [string, (beside: Beside) => readonly string[], string][] = [
    ['without a signature', () => [], 'is not signed'],
    [
      'by another key',
      (beside) => [beside.put(bundleOf(list, makeCosignKey()))],
      'is not by os.verify.key, or was altered',
    ],
    ['as another image', (beside) => [beside.put(bundleOf(other))], `speaks of another image, ${other}`],
    [
      'with a message alone',
      (beside) => [beside.put(cosignBundle(key, '', { bundle: { dsseEnvelope: null, messageSignature: {} } }))],
      'holds no envelope',
    ],
    [
      'in wrong base64',
      (beside) => [beside.put(cosignBundle(key, cosignStatement(list), { envelope: { payload: '%%%' } }))],
      'is no base64',
    ],
    [
      'twice in one',
      (beside) => [
        beside.put(
          cosignBundle(key, cosignStatement(list), { envelope: { signatures: [{ sig: 'AA==' }, { sig: 'AA==' }] } }),
        ),
      ],
      'must be exactly one',
    ],
    ['by what is not there', () => [other], 'is listed, but the registry does not have it'],
    ['by what is no manifest', (beside) => [beside.putManifest('<html>')], 'is no manifest of signatures'],
    [
      'by more than a signature is',
      (beside) => [beside.put(`${bundleOf()}${' '.repeat(300_000)}`)],
      'more than the 262144',
    ],
  ]

  it.each(cases)('that is signed %s', async (_, lay, says) => {
    const beside = new Beside()
    expect(await beside.reason({ signatures: [...lay(beside)] })).toContain(says)
  })

  it('whose bundle is another than its manifest says', async () => {
    const beside = new Beside()
    const bundle = bundleOf()
    const signatures = [beside.put(bundle)]
    beside.tools.blobs.set(digestOfText(bundle), bundle.replace('sig', 'gis'))
    expect(await beside.reason({ signatures })).toContain('is not what its digest says')
  })

  it('whose bundle is larger than its manifest says, without reading it', async () => {
    const beside = new Beside()
    const bundle = `${bundleOf()}${' '.repeat(300_000)}`
    beside.tools.blobs.set(digestOfText(bundle), bundle)
    const manifest = bundleManifest(bundle, list).replace(`"size":${bundle.length}`, '"size":900')
    expect(await beside.reason({ signatures: [beside.putManifest(manifest)] })).toContain('more than the 262144')
  })

  it('with a list that has no end', async () => {
    const beside = new Beside()
    const many = Array.from({ length: 70 }, (_, index) => beside.put(bundleOf(list, key).replace('sig', `s${index}g`)))
    beside.index(list, ...many.map((one) => ({ digest: one })))
    const before = beside.tools.asked.length
    expect(await beside.reason()).toContain('do not hold either')
    expect(beside.tools.asked.slice(before).filter((line) => line.includes(' copy '))).toHaveLength(64)
  })

  it('with the reasons of both forms', async () => {
    const beside = new Beside()
    beside.claim(list, other)
    const said = await beside.reason({ signatures: [beside.put(bundleOf(list, makeCosignKey()))] })
    expect(said).toMatch(/speaks of another image.*; sha256:\w{12} is not by os\.verify\.key/)
  })
})

it('a registry that goes away is asked again, not taken for one without signatures', async () => {
  const beside = new Beside()
  beside.tools.isRegistryAway = true
  await expect(beside.reason()).rejects.toMatchObject({ code: 'StagingFailed' })
})
