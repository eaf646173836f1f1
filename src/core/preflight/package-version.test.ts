import { describe, expect, it } from 'vitest'
import { answerOf, toNewest, type ViewTraits } from '../../../test/samples/check-views.ts'
import { packageVersion } from './package-version.ts'

const offering = (...versionsOnOffer: string[]) => ({ facts: { versionsOnOffer } })
const other = { w1: offering('v1.36.1', 'v1.36.4') }
const bundle = { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) }

describe('the check PackageVersion', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['on offer', {}, 'Passed: no host says that it cannot have v1.36.3'],
    ['not on offer', { hosts: other }, 'Failed: w1 cannot install v1.36.3; on offer: v1.36.1, v1.36.4'],
    [
      'newer than all that the index knows of the minor version: it may be older than the version',
      { hosts: { w1: offering('v1.35.9', 'v1.36.2', 'v1.37.0'), w2: offering('v1.36.2'), w3: {} } },
      'Warning: the package index of w1, w2 knows no v1.36.3, and nothing of v1.36 that is newer: whether it is there is seen when they stage',
    ],
    [
      'one that is not on offer counts more',
      { hosts: { ...other, w2: offering('v1.36.2') } },
      'Failed: w1 cannot install v1.36.3; on offer: v1.36.1, v1.36.4',
    ],
    [
      'not on offer, and installed already',
      { hosts: { w1: { kubelet: 'v1.36.3', facts: { versionsOnOffer: ['v1.36.4'] } } } },
      'Passed: no host says that it cannot have v1.36.3',
    ],
    ['what a bundle holds', { hosts: other, spec: { ...toNewest, airGapped: { bundle } } }, undefined],
    [
      'skipped',
      { hosts: other, spec: { ...toNewest, preflight: { skip: ['PackageVersion'] } } },
      'Skipped: skipped; it would have said Failed: w1 cannot install v1.36.3; on offer: v1.36.1, v1.36.4',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(packageVersion, traits)).toBe(answer))
})
