import { describe, expect, it } from 'vitest'
import { bootcStatus, deploymentRoot, osImageFacts, ostreeEntries, ostreeStatus, rpmOstreeStatus } from './status.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const checksum = (digit: string) => digit.repeat(64)

/** Shaped as rpm-ostree 2024.9 prints it (coreos/rpm-ostree issue 5196), cut to what could be mistaken. */
const rpmOstreeEntry = (digit: string, part: object) => ({
  unlocked: 'none',
  'requested-local-packages': [],
  'base-commit-meta': {
    'ostree.importer.version': '0.14.1',
    'ostree.manifest': `{"layers":[{"digest":"${digest(digit)}"}]}`,
    'ostree.manifest-digest': digest(digit),
  },
  pinned: false,
  osname: 'fedora-coreos',
  checksum: checksum(digit),
  id: `fedora-coreos-${checksum(digit)}.0`,
  version: `41.2024.${digit}`,
  serial: 0,
  'container-image-reference': 'ostree-unverified-registry:quay.io/fedora/fedora-coreos:stable',
  'container-image-reference-digest': digest(digit),
  booted: false,
  staged: false,
  ...part,
})

const rpmOstree = (...deployments: object[]) =>
  JSON.stringify({ deployments, transaction: null, 'cached-update': null, 'update-driver': null })

/** Shaped as org.containers.bootc/v1. */
const bootcEntry = (digit: string) => ({
  image: {
    image: { image: 'quay.io/centos-bootc/centos-bootc:stream9', transport: 'registry' },
    version: `stream9.${digit}`,
    timestamp: null,
    imageDigest: digest(digit),
    architecture: 'amd64',
  },
  cachedUpdate: null,
  incompatible: false,
  pinned: false,
  store: 'ostreeContainer',
  ostree: { stateroot: 'default', checksum: checksum(digit), deploySerial: 1 },
})

const bootc = (status: object) =>
  JSON.stringify({
    apiVersion: 'org.containers.bootc/v1',
    kind: 'BootcHost',
    metadata: { name: 'host' },
    spec: { image: null, bootOrder: 'default' },
    status: { staged: null, booted: null, rollback: null, rollbackQueued: false, type: 'bootcHost', ...status },
  })

describe('rpm-ostree status', () => {
  it('tells staged, booted and the others apart', () => {
    const status = rpmOstreeStatus(
      rpmOstree(rpmOstreeEntry('3', { staged: true }), rpmOstreeEntry('2', { booted: true }), rpmOstreeEntry('1', {})),
    )
    expect(status.staged?.digest).toBe(digest('3'))
    expect(status.booted.digest).toBe(digest('2'))
    expect(status.next.digest).toBe(digest('3'))
    expect(status.others.map((one) => one.digest)).toEqual([digest('1')])
    expect(status.bootedManifest).toContain(digest('2'))
    expect(deploymentRoot(status.booted)).toBe(`/ostree/deploy/fedora-coreos/deploy/${checksum('2')}.0`)
  })

  it('sees that the booted one need not be what boots next', () => {
    const status = rpmOstreeStatus(rpmOstree(rpmOstreeEntry('1', {}), rpmOstreeEntry('2', { booted: true })))
    expect(status.booted.digest).toBe(digest('2'))
    expect(status.next.digest).toBe(digest('1'))
    expect(status.staged).toBeUndefined()
  })

  it('gives the facts of the booted image', () => {
    const status = rpmOstreeStatus(rpmOstree(rpmOstreeEntry('2', { booted: true })))
    expect(osImageFacts(status)).toEqual({
      image: 'quay.io/fedora/fedora-coreos:stable',
      digest: digest('2'),
      version: '41.2024.2',
    })
  })

  it('has no facts of a deployment that came from no image', () => {
    const plain = rpmOstreeEntry('2', {
      booted: true,
      'container-image-reference': undefined,
      'container-image-reference-digest': undefined,
      origin: 'fedora:fedora/x86_64/coreos/stable',
    })
    expect(osImageFacts(rpmOstreeStatus(rpmOstree(plain)))).toBeUndefined()
  })

  it('tells what the origin asks of an image', () => {
    const image = 'quay.io/fedora/fedora-coreos:stable'
    const entry = rpmOstreeEntry('2', {
      booted: true,
      'container-image-reference': `ostree-remote-registry:fedora:${image}`,
    })
    const { booted } = rpmOstreeStatus(rpmOstree(entry))
    expect(booted).toMatchObject({ image, trust: { by: 'Remote', remote: 'fedora' } })
  })

  it('says what it is busy with', () => {
    const text = rpmOstree(rpmOstreeEntry('2', { booted: true })).replace(
      '"transaction":null',
      '"transaction":["rebase",":1.30","/org/projectatomic/rpmostree1/fedora_coreos"]',
    )
    expect(rpmOstreeStatus(text).transaction).toBe('rebase')
  })

  it.each([
    ['nothing', ''],
    ['no JSON', 'error: no daemon'],
    ['another shape', '{"deployments":[{}]}'],
    ['nothing booted', rpmOstree(rpmOstreeEntry('1', {}))],
  ])('refuses %s', (_, text) => {
    expect(() => rpmOstreeStatus(text)).toThrow(expect.objectContaining({ code: 'ImageToolFailed' }))
  })
})

describe('bootc status', () => {
  it('tells staged, booted and rollback apart', () => {
    const status = bootcStatus(bootc({ staged: bootcEntry('3'), booted: bootcEntry('2'), rollback: bootcEntry('1') }))
    expect(status.staged?.digest).toBe(digest('3'))
    expect(status.booted.version).toBe('stream9.2')
    expect(status.next.digest).toBe(digest('3'))
    expect(deploymentRoot(status.booted)).toBe(`/ostree/deploy/default/deploy/${checksum('2')}.1`)
  })

  it.each([
    ['containerPolicy', { by: 'Policy' }],
    [{ ostreeRemote: 'fedora' }, { by: 'Remote', remote: 'fedora' }],
    ['insecure', undefined],
    [null, undefined],
  ])('tells what the origin asks of an image: %j', (signature, trust) => {
    const { image, ...rest } = bootcEntry('2')
    const entry = { ...rest, image: { ...image, image: { ...image.image, signature } } }
    expect(bootcStatus(bootc({ booted: entry })).booted.trust).toEqual(trust)
  })

  it('sees a queued rollback', () => {
    const status = bootcStatus(bootc({ booted: bootcEntry('2'), rollback: bootcEntry('1'), rollbackQueued: true }))
    expect(status.next.digest).toBe(digest('1'))
  })

  it.each([
    ['no JSON', 'ERROR'],
    ['a host that is not image-based', bootc({})],
    ['a store without ostree', bootc({ booted: { ...bootcEntry('2'), ostree: null, composefs: {} } })],
  ])('refuses %s', (_, text) => {
    expect(() => bootcStatus(text)).toThrow(expect.objectContaining({ code: 'ImageToolFailed' }))
  })
})

describe('ostree admin status', () => {
  // As libostree 2025.2 prints it.
  const text = [
    `  bedos ${checksum('3')}.0 (staged)`,
    '    Version: 4.0',
    '    origin: <unknown origin type>',
    `* bedos ${checksum('2')}.1`,
    '    Version: 3.0',
    '    origin: <unknown origin type>',
    `  bedos ${checksum('1')}.0 (rollback)`,
    '    Version: 2.0',
    '    origin: <unknown origin type>',
    '',
  ].join('\n')
  const origin = '[origin]\ncontainer-image-reference=ostree-unverified-registry:quay.io/a/b:1\n'
  const origins = new Map(
    ['1', '2', '3'].map((digit) => [checksum(digit), { manifestDigest: `'${digest(digit)}'\n`, origin }]),
  )

  it('tells staged, booted and the others apart', () => {
    const status = ostreeStatus(ostreeEntries(text), origins)
    expect(status.staged?.digest).toBe(digest('3'))
    expect(osImageFacts(status)).toEqual({ image: 'quay.io/a/b:1', digest: digest('2') })
    expect(status.next.digest).toBe(digest('3'))
    expect(status.others.map((one) => one.digest)).toEqual([digest('1')])
    expect(deploymentRoot(status.booted)).toBe(`/ostree/deploy/bedos/deploy/${checksum('2')}.1`)
  })

  it('has no digest of a commit that came from no image', () => {
    const status = ostreeStatus(ostreeEntries(text), new Map())
    expect(status.booted.digest).toBeUndefined()
  })

  it('refuses a host that is not booted from it', () => {
    expect(() => ostreeStatus(ostreeEntries('No deployments.\n'), new Map())).toThrow()
  })
})
