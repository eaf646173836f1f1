import { describe, expect, it } from 'vitest'
import { readCommitImage } from './commit-image.ts'

const commit = 'c0'.repeat(32)
const diff = (digit: string) => `sha256:${digit.repeat(64)}`

/** As ostree-ext 0.15 labels what it encapsulates. */
function config(labels: object | null, ...layers: readonly string[]): string {
  return JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    config: { Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(diff) },
  })
}

const labels = { 'ostree.bootable': 'true', 'ostree.commit': commit, 'ostree.final-diffid': diff('2'), version: '4.0' }

describe('an image', () => {
  it.each([
    ['in one layer', config({ ...labels, 'ostree.final-diffid': diff('1') }, '1')],
    ['in several', config(labels, '0', '1', '2')],
  ])('is one commit: %s', (_, text) => expect(readCommitImage(text)).toEqual({ kind: 'commit', commit }))

  it.each([
    ['one layer above', config(labels, '1', '2', '3'), 'it has 1 layer above its ostree commit'],
    ['several above', config(labels, '2', '3', '4'), 'it has 2 layers above its ostree commit'],
    ['the last layer not among them', config(labels, '1'), 'it is no ostree commit'],
    ['no labels', config(null, '1'), 'it is no ostree commit'],
    ['no commit', config({ 'ostree.final-diffid': diff('1') }, '1'), 'it is no ostree commit'],
    ['something for a commit', config({ ...labels, 'ostree.commit': '--repo=/tmp' }, '2'), 'it is no ostree commit'],
    ['no configuration', '<html>', 'its configuration cannot be read'],
  ])('is not: %s', (_, text, why) => {
    expect(readCommitImage(text)).toEqual({ kind: 'other', why: expect.stringContaining(why) })
  })
})
