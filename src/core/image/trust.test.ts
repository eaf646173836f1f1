import { describe, expect, it } from 'vitest'
import type { ImageTrust } from '../../api/os-image.ts'
import type { ImageEngine } from './status.ts'
import { decideTrust, trustedReference, trustOf, whyRefused } from './trust.ts'

const policy: ImageTrust = { by: 'Policy' }
const fedora: ImageTrust = { by: 'Remote', remote: 'fedora' }
const name = 'quay.io/a/b@sha256:12'

describe('what an origin asks for', () => {
  it.each<[string, ImageTrust | undefined]>([
    ['ostree-image-signed:docker://quay.io/a/b:1', policy],
    ['ostree-image-signed:registry:quay.io/a/b:1', policy],
    ['ostree-remote-registry:fedora:quay.io/a/b:1', fedora],
    ['ostree-remote-image:fedora:docker://quay.io/a/b:1', fedora],
    ['ostree-unverified-registry:quay.io/a/b:1', undefined],
    ['ostree-unverified-image:docker://quay.io/a/b:1', undefined],
    ['quay.io/a/b:1', undefined],
    ['fedora:fedora/x86_64/coreos/stable', undefined],
    ['', undefined],
  ])('%s', (reference, trust) => expect(trustOf(reference)).toEqual(trust))

  it.each([policy, fedora, undefined])('is asked of the next image too: %j', (trust) => {
    expect(trustOf(trustedReference(trust, name))).toEqual(trust)
    expect(trustedReference(trust, name)).toMatch(/quay\.io\/a\/b@sha256:12$/)
  })
})

describe('the trust of a host', () => {
  it.each<[string, ImageEngine, ImageTrust | undefined, boolean, object]>([
    ['that asks for nothing', 'rpm-ostree', undefined, false, { kind: 'take' }],
    ['that asks for nothing, with a key', 'bootc', undefined, true, { kind: 'take' }],
    ['by policy', 'rpm-ostree', policy, false, { kind: 'take', trust: policy }],
    ['by policy, under bootc', 'bootc', policy, false, { kind: 'take', trust: policy }],
    ['by a remote', 'rpm-ostree', fedora, false, { kind: 'take', trust: fedora }],
    ['by a remote, with plain ostree', 'ostree', fedora, false, { kind: 'take', trust: fedora }],
  ])('%s', (_, engine, origin, hasKey, decision) => {
    expect(decideTrust(engine, origin, hasKey)).toEqual(decision)
  })

  it('by a remote is nothing bootc can keep', () => {
    const message = expect.stringMatching(/ostree remote fedora, which bootc switch cannot keep: name os\.verify\.key/)
    expect(decideTrust('bootc', fedora, false)).toEqual({ kind: 'refuse', reason: { code: 'ImageUntrusted', message } })
  })

  it.each(['rpm-ostree', 'bootc', 'ostree'] as const)('gives way to a key, and %s says so', (engine) => {
    for (const origin of [policy, fedora]) {
      const warning = expect.stringContaining('does not ask for any more')
      expect(decideTrust(engine, origin, true)).toEqual({ kind: 'take', warning })
    }
  })
})

describe('a tool that does not take an image', () => {
  /** As the engine, ostree and skopeo print them. */
  it.each([
    'error: Preparing import: Fetching manifest: containers-policy.json specifies a default of `insecureAcceptAnything`; refusing usage',
    'error: Fetching manifest: failed to invoke method OpenImage: A signature was required, but no signature exists',
    'error: failed to invoke method OpenImage: Running image docker://10.0.0.1:5000/os:1 is rejected by policy.',
    'error: Importing: Unencapsulating base: Using remote fedora for verification; Expected commitmeta object, not DirTree',
    'error: Verifying ostree commit in tar stream: Can’t check signature: public key not found',
    'error: Importing: Remote "fedora" not found',
  ])('says so: %s', (said) => {
    expect(whyRefused(undefined, said)).toContain('containers-policy.json')
    expect(whyRefused(policy, said)).toContain('ostree-image-signed')
    expect(whyRefused(fedora, said)).toContain('the ostree remote fedora')
  })

  it.each(['error: connection refused', 'No space left on device', 'manifest unknown', ''])(
    'may have other reasons: %s',
    (said) => expect(whyRefused(fedora, said)).toBeUndefined(),
  )
})
