import { describe, expect, it } from 'vitest'
import { formatImageReference, normalImageName, parseImageReference } from './reference.ts'

const digest = `sha256:${'ab'.repeat(32)}`

describe('an image reference', () => {
  it.each([
    ['quay.io/fedora/fedora-coreos:stable', { name: 'quay.io/fedora/fedora-coreos', tag: 'stable' }],
    ['10.0.0.1:5000/os:3.0', { name: '10.0.0.1:5000/os', tag: '3.0' }],
    ['10.0.0.1:5000/os', { name: '10.0.0.1:5000/os' }],
    [`localhost/os@${digest}`, { name: 'localhost/os', digest }],
    [`quay.io/a/b:1@${digest}`, { name: 'quay.io/a/b', tag: '1', digest }],
    ['ubuntu', { name: 'docker.io/library/ubuntu' }],
    ['someone/os:1', { name: 'docker.io/someone/os', tag: '1' }],
    ['docker://quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-unverified-registry:quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-unverified-image:docker://quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-image-signed:docker://quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-image-signed:registry:quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-remote-registry:fedora:quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
    ['ostree-remote-image:fedora:docker://quay.io/a/b:1', { name: 'quay.io/a/b', tag: '1' }],
  ])('%s is read', (text, expected) => {
    expect(parseImageReference(text)).toEqual(expected)
  })

  it.each([
    ['', 'nothing'],
    ['quay.io/A/b', 'capitals in the path'],
    ['quay.io/a/b@sha256:12', 'a short digest'],
    ['quay.io/a/b:1 --privileged', 'a blank'],
    ['--experimental', 'an option'],
    ['quay.io//b', 'an empty part'],
    ['quay.io/a/b:', 'an empty tag'],
    ['oci:/var/image', 'another transport'],
  ])('%s is refused: %s', (text) => {
    expect(parseImageReference(text)).toBeUndefined()
  })

  it('is pinned by its digest alone', () => {
    expect(formatImageReference({ name: 'quay.io/a/b', tag: '1', digest })).toBe(`quay.io/a/b@${digest}`)
    expect(formatImageReference({ name: 'quay.io/a/b' })).toBe('quay.io/a/b:latest')
  })

  it.each([
    'ostree-unverified-image:docker://docker.io/library/os',
    'ostree-unverified-registry:docker.io/library/os:latest',
    'os:latest',
  ])('%s is the same image', (text) => {
    expect(normalImageName(text)).toBe('docker.io/library/os:latest')
  })

  it('keeps what is no image', () => {
    expect(normalImageName('fedora:fedora/x86_64/coreos/stable')).toBe('fedora:fedora/x86_64/coreos/stable')
  })
})
