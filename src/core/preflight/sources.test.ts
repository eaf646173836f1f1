import { describe, expect, it } from 'vitest'
import { answerOf, type HostTraits, justReboot, toNewest, type ViewTraits } from '../../../test/samples/check-views.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { bundle } from './bundle.ts'
import { sources } from './sources.ts'

const tried = (code: ReasonCode): Record<string, HostTraits> => ({
  w1: {
    agent: { order: { id: 'u/1', state: 'Failed', reason: { code, message: 'it is not there' }, steps: [] } },
  },
  w2: {},
})
const airGapped = { bundle: { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) } }

describe('the check Sources', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['nothing known against it', {}, 'Passed: no host says that a source is missing'],
    ['nothing is fetched', { spec: justReboot }, undefined],
    [
      'an image for hosts with packages',
      { hosts: { w1: { facts: { packageManager: 'apt' } } }, spec: { os: { image: 'r.example/os:1' } } },
      'Failed: os.image is for image-based hosts; w1 has packages',
    ],
    [
      'packages for hosts booted from an image',
      { hosts: { w1: { facts: { imageManager: 'bootc' } } }, spec: { os: { packages: 'All' } } },
      'Failed: os.packages is for package-based hosts; w1 is booted from an image',
    ],
    [
      'a host could not have it last time',
      { hosts: tried('RepositoryMissing') },
      'Warning: when last tried, sources failed on w1: it is not there',
    ],
    ['it failed for another reason', { hosts: tried('StepFailed') }, 'Passed: no host says that a source is missing'],
    [
      'no repository offers any version',
      { hosts: { w1: { facts: { packageManager: 'apt', versionsOnOffer: [] } } } },
      'Warning: no repository on w1 offers Kubernetes; it is tried when they stage',
    ],
    [
      'a bundle needs no repository',
      { hosts: { w1: { facts: { packageManager: 'apt', versionsOnOffer: [] } } }, spec: { ...toNewest, airGapped } },
      'Passed: no host says that a source is missing',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(sources, traits)).toBe(answer))
})

describe('the check Bundle', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['there is none', {}, undefined],
    [
      'nothing known against it',
      { spec: { ...toNewest, airGapped } },
      'Passed: no host has found it wanting; each reads it when it stages, before it is drained',
    ],
    [
      'a host found it wanting last time',
      { hosts: tried('BundleIncomplete'), spec: { ...toNewest, airGapped } },
      'Warning: when last tried, it failed on w1: it is not there',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(bundle, traits)).toBe(answer))
})
