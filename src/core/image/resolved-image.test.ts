import { describe, expect, it } from 'vitest'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { ResolvedImage } from '../../api/os-image.ts'
import { hasBooted, impossibleImage, pinnedSpec, resolvedFor } from './resolved-image.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const image: ResolvedImage = {
  image: 'registry.example/os:1.*',
  reference: 'registry.example/os:1.4',
  digest: digest('1'),
  resolvedAt: '2026-01-01T00:00:00Z',
  instances: [
    { architecture: 'amd64', digest: digest('a') },
    { architecture: 'arm64', digest: digest('b') },
  ],
}

describe('a resolved image', () => {
  it('is the operation’s that looked it up', () => {
    const status = { operationID: 'os/1-1-a', osImage: image }
    expect(resolvedFor({ status }, 'os/1-1-a')).toBe(image)
    expect(resolvedFor({ status }, 'os/1-2-b')).toBeUndefined()
    expect(resolvedFor({}, 'os/1-1-a')).toBeUndefined()
  })

  it('is what hosts are told, by its digest', () => {
    const spec: DirectUpdateSpec = { os: { image: image.image, verify: { key: 'k' } } }
    expect(pinnedSpec(spec, image).os).toEqual({ image: `registry.example/os@${digest('1')}`, verify: { key: 'k' } })
    expect(pinnedSpec(spec, undefined)).toBe(spec)
    expect(pinnedSpec({ reboot: 'Always' }, image)).toEqual({ reboot: 'Always' })
  })

  it('takes along where its signatures lie, beside those the update names', () => {
    const signed = { ...image, signatures: [digest('5'), digest('6')] }
    const verify = { key: 'k', signatures: [digest('6'), digest('7')] }
    const told = (os: DirectUpdateSpec['os']) => pinnedSpec({ os }, signed).os?.verify
    expect(told({ image: image.image, verify: { key: 'k' } })).toEqual({ key: 'k', signatures: signed.signatures })
    expect(told({ image: image.image, verify })?.signatures).toEqual([digest('6'), digest('7'), digest('5')])
    expect(told({ image: image.image })).toBeUndefined()
  })

  const facts = (architecture: string, booted?: string) => ({
    ...{ os: '', kernel: '', architecture, versionsOnOffer: [] },
    ...(booted !== undefined && { osImage: { image: 'registry.example/os:1.4', digest: booted } }),
  })

  it.each([
    ['the image for its architecture', facts('amd64', digest('a')), true],
    ['the list itself', facts('amd64', digest('1')), true],
    ['the image for another architecture', facts('amd64', digest('b')), false],
    ['another image', facts('amd64', digest('9')), false],
    ['no image', facts('amd64'), false],
    ['nothing that is known', undefined, false],
  ])('is booted where a host shows %s', (_, shown, expected) => {
    expect(hasBooted(shown, `registry.example/os@${digest('1')}`, image)).toBe(expected)
  })

  it('that nobody looked up is known by the digest in its name only', () => {
    expect(hasBooted(facts('amd64', digest('a')), `registry.example/os@${digest('a')}`, undefined)).toBe(true)
    expect(hasBooted(facts('amd64', digest('a')), 'registry.example/os:1.4', undefined)).toBe(false)
  })
})

describe('an image that can never be had', () => {
  const bundle = { url: '/var/bundle.tar', sha256: 'ab'.repeat(32) }

  it.each<[string, DirectUpdateSpec, string | undefined]>([
    ['from a bundle', { os: { image: 'registry.example/os:1' }, airGapped: { bundle } }, 'a bundle holds no OS images'],
    ['of no name', { os: { image: 'Not An Image' } }, 'is no image'],
    ['of a pattern for a name', { os: { image: 'registry.example/*' } }, 'is no image'],
    ['is not one with a tag', { os: { image: 'registry.example/os:1' } }, undefined],
    ['is not one with a pattern', { os: { image: 'registry.example/os:1.*' } }, undefined],
    ['is not none', { airGapped: { bundle }, os: { packages: 'All' } }, undefined],
  ])('%s', (_, spec, says) => {
    const reason = impossibleImage(spec)
    if (says === undefined) expect(reason).toBeUndefined()
    else expect(reason).toMatchObject({ code: 'ImageUnknown', message: expect.stringContaining(says) })
  })
})
